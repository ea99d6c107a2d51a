package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What {@code nfs --version} prints; the build writes the version into a resource. */
final class NfsVersion implements IVersionProvider {

    @Override
    public String[] getVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream resource = NfsVersion.class.getResourceAsStream("version.properties")) {
            properties.load(resource);
        }
        return new String[] {"nfs (netty-rdma) " + properties.getProperty("version")};
    }
}
