package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jars as modules, so that this runs after they were made: the documented programs without any option of the JVM. */
class ModulePathIT {

    private static final String DESCRIPTOR = """
            module readme {
                requires org.nettyrdma.codec;
                requires org.nettyrdma.transport;
                requires io.netty.buffer;
                requires io.netty.common;
                requires io.netty.transport;
            }
            """;

    @Test
    void shouldRunTheDocumentedProgramsAsModule(@TempDir Path directory) throws Exception {
        try (var programs = DocumentedPrograms.onModulePath(directory, jars(), DESCRIPTOR)) {
            var server = programs.startServer();

            String output = programs.start("EchoClient").ending(0);

            assertTrue(output.contains("RDMA provider: iwarp ("), output);
            assertTrue(server.output().contains("RDMA provider: iwarp ("), server::output);
        }
    }

    /** Who builds, for instance an image of a container, is not always who runs. */
    @Test
    void shouldBeReadableByAll() throws Exception {
        Path jar = Path.of(System.getProperty("nettyrdma.jar"));
        assertEquals("rw-r--r--", PosixFilePermissions.toString(Files.getPosixFilePermissions(jar)));
    }

    @Test
    void shouldGiveEachModuleItsOwnNameAndPackages() {
        Map<String, String> modulesByPackage = new TreeMap<>();
        List<String> modules = new ArrayList<>();
        for (ModuleReference module : ModuleFinder.of(jars().toArray(Path[]::new)).findAll()) {
            String name = module.descriptor().name();
            if (name.startsWith("org.nettyrdma.")) {
                modules.add(name);
            }
            for (String packageName : module.descriptor().packages()) {
                String other = modulesByPackage.put(packageName, name);
                assertTrue(other == null, () -> packageName + " is in " + name + " and in " + other);
            }
        }
        modules.sort(null);
        assertEquals(List.of("org.nettyrdma.codec", "org.nettyrdma.handler.credit", "org.nettyrdma.transport"), modules);
    }

    /** The class path of the tests has the classes of this module where a program has its jar. */
    private static List<Path> jars() {
        List<Path> jars = new ArrayList<>(DocumentedPrograms.libraries());
        jars.removeIf(path -> path.endsWith(Path.of("codec-rpcrdma", "target", "classes")));
        jars.add(Path.of(System.getProperty("nettyrdma.jar")));
        return jars;
    }
}
