package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** The documented server and client, in processes of their own. Their port is changed, and as a module they get a package. */
final class DocumentedPrograms implements AutoCloseable {

    private static final Pattern CLASS_NAME = Pattern.compile("public final class (\\w+)");
    private static final Pattern PORT = Pattern.compile("\\b20050\\b");
    private static final String QUESTION = ".writeInt(42)";
    private static final Pattern LIBRARY = Pattern.compile(
            ".*/((netty|slf4j|handler-credit|codec-rpcrdma)[a-z-]*-\\d[^/]*(?<!-tests)\\.jar"
            + "|(netty-transport-rdma|handler-credit|codec-rpcrdma)/target/classes)");
    private static final long TIMEOUT_SECONDS = 60;

    private final Path directory;
    private final List<String> launch;
    private final String prefix;
    private final ServerSocket taken = takePort();
    private final List<Process> processes = new ArrayList<>();

    private DocumentedPrograms(Path directory, List<String> launch, String prefix) throws IOException {
        this.directory = directory;
        this.launch = launch;
        this.prefix = prefix;
    }

    /**
     * A port that the system gives to nobody: one of its choice could go to another process after {@link #freePort()}, before the
     * server of the documents takes it.
     */
    private static ServerSocket takePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
            try {
                return new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"));
            } catch (BindException e) {
                Thread.yield(); // another one is free
            }
        }
    }

    /** Compiles them for a class path. Their port is taken until {@link #freePort()}. */
    static DocumentedPrograms onClassPath(Path directory, List<Path> libraries) throws IOException {
        return onClassPath(directory, libraries, Integer.BYTES);
    }

    /** The same, where the client asks as many bytes, more than 3. */
    static DocumentedPrograms onClassPath(Path directory, List<Path> libraries, int questionBytes) throws IOException {
        return onClassPath(directory, libraries, sources(), questionBytes);
    }

    /** The client with the server that README shows. */
    static DocumentedPrograms withServerOfReadme(Path directory, List<Path> libraries) throws IOException {
        return onClassPath(directory, libraries, List.of(programs(Documents.README).get(0), sources().get(1)), Integer.BYTES);
    }

    private static DocumentedPrograms onClassPath(Path directory, List<Path> libraries, List<String> sources, int questionBytes)
            throws IOException {
        DocumentedPrograms programs = new DocumentedPrograms(directory, List.of("-cp", path(libraries, directory)), "");
        programs.compile(List.of("-cp", path(libraries)), "", sources, questionBytes);
        return programs;
    }

    /** The same as a module. */
    static DocumentedPrograms onModulePath(Path directory, List<Path> libraries, String descriptor) throws IOException {
        List<String> launch = List.of("-p", path(libraries, directory), "-m");
        DocumentedPrograms programs = new DocumentedPrograms(directory, launch, "readme/readme.");
        Files.writeString(directory.resolve("module-info.java"), descriptor);
        programs.compile(List.of("-p", path(libraries)), "package readme; ", sources(), Integer.BYTES);
        return programs;
    }

    /** The class path of a program that depends on the last artifact of this project and on a binding for its log. */
    static List<Path> libraries() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(LIBRARY.asMatchPredicate()).map(Path::of).toList();
    }

    /** The sources: a server and a client. */
    static List<String> sources() throws IOException {
        return programs(Documents.PROGRAMS);
    }

    /** The whole programs of a document, in their order. */
    static List<String> programs(Path document) throws IOException {
        return Documents.blocks(document, "java").stream().map(Documents.Block::text)
                .filter(text -> CLASS_NAME.matcher(text).find()).toList();
    }

    private void compile(List<String> pathOptions, String packageDeclaration, List<String> programs, int questionBytes)
            throws IOException {
        for (String source : programs) {
            MatchResult name = CLASS_NAME.matcher(source).results().findFirst().orElseThrow();
            assertTrue(PORT.matcher(source).find(), source);
            assertEquals(name.group(1).equals("EchoClient"), source.contains(QUESTION), source);
            Files.writeString(directory.resolve(name.group(1) + ".java"), packageDeclaration
                    + PORT.matcher(source).replaceAll(Integer.toString(taken.getLocalPort()))
                    .replace(QUESTION, QUESTION + ".writeZero(" + (questionBytes - Integer.BYTES) + ")"));
        }
        List<String> options = new ArrayList<>(pathOptions);
        options.addAll(List.of("-d", directory.toString()));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (var manager = compiler.getStandardFileManager(null, null, null); var files = Files.list(directory)) {
            var sources = manager.getJavaFileObjectsFromPaths(files.filter(file -> file.toString().endsWith(".java")).toList());
            assertTrue(compiler.getTask(messages, manager, null, options, null, sources).call(), messages.toString());
        }
    }

    private static String path(List<Path> libraries, Path... more) {
        return String.join(File.pathSeparator, Stream.concat(libraries.stream(), Stream.of(more)).map(Path::toString).toList());
    }

    void freePort() throws IOException {
        taken.close();
    }

    Running start(String program) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.add("-XX:TieredStopAtLevel=1"); // they are over before the better compiler pays
        command.addAll(launch);
        command.add(prefix + program);
        Path output = directory.resolve("output-" + processes.size());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        processes.add(process);
        return new Running(process, output);
    }

    /** Starts the server, and returns when it listens. */
    Running startServer() throws IOException {
        freePort();
        Running server = start("EchoServer");
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (true) {
            try (Socket socket = new Socket()) {
                // From another address: from the same one the system may choose the same port, and connect the socket to itself.
                socket.bind(new InetSocketAddress("127.0.0.2", 0));
                socket.connect(new InetSocketAddress("127.0.0.1", taken.getLocalPort()));
                return server;
            } catch (IOException e) {
                assertTrue(server.process.isAlive() && System.nanoTime() < deadlineNanos, () -> e + ": " + server.output());
                Thread.yield();
            }
        }
    }

    @Override
    public void close() throws IOException {
        taken.close();
        processes.forEach(process -> process.destroyForcibly().onExit().join());
    }

    /** A program that was started, and where standard output and standard error go. */
    record Running(Process process, Path file) {

        String output() {
            try {
                return Files.readString(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Waits until it ends by itself; returns what it has printed. */
        String ending(int exitCode) throws InterruptedException {
            assertTrue(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS), () -> "does not end: " + output());
            assertEquals(exitCode, process.exitValue(), this::output);
            return output();
        }
    }
}
