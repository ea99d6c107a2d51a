package org.nettyrdma.example.nfs.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.nettyrdma.example.nfs.LocalNames;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Local paths, with all bytes that {@link CommandArguments} has kept. An empty one is a mistake in a script and no path. */
final class PathConverter implements ITypeConverter<Path> {

    @Override
    public Path convert(String value) {
        if (value.isEmpty()) {
            throw new TypeConversionException("'' is not a path");
        }
        try {
            return LocalNames.path(Path.of(""), value);
        } catch (InvalidPathException e) {
            throw new TypeConversionException("'" + value + "' is not a path: " + e.getReason());
        }
    }
}
