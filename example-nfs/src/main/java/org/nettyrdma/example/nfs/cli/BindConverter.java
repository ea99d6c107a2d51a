package org.nettyrdma.example.nfs.cli;

import java.net.InetAddress;
import java.net.UnknownHostException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Addresses of this machine. Java takes an empty one for loopback; in a script it is a variable that was not set. */
final class BindConverter implements ITypeConverter<InetAddress> {

    @Override
    public InetAddress convert(String value) {
        try {
            if (!value.isEmpty()) {
                return InetAddress.getByName(value);
            }
        } catch (UnknownHostException e) {
            // The same message.
        }
        throw new TypeConversionException("'" + value + "' is neither an address nor the name of a host");
    }
}
