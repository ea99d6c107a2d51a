package org.nettyrdma.codec.rpcrdma.soak;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.nettyrdma.codec.oncrpc.Retransmission;

/**
 * Says whether the soak was passed: {@code SoakJudge calls OUTCOMES LEDGER...} compares what the clients were told with what the
 * servers have written to their disk; {@code SoakJudge memory LOG...} compares what processes hold at the end with what they held
 * after the first fifth.
 */
final class SoakJudge {

    /** How much more there may be at the end, in MiB or as a number. Threads and registered memory are made once. */
    private static final Map<String, Integer> TOLERANCE = Map.of("heap", 12, "direct", 16, "registered", 16, "resident", 48,
            "descriptors", 40, "threads", 2);
    private static final int MOST_SHOWN = 10;
    private static final Pattern FIGURE = Pattern.compile("(\\w+)=(\\d+)");

    private final List<String> faults = new ArrayList<>();

    public static void main(String[] arguments) throws IOException {
        SoakJudge judge = new SoakJudge();
        List<Path> files = Arrays.stream(arguments).skip(1).map(Path::of).toList();
        if (arguments[0].equals("calls")) {
            judge.judgeCalls(files.get(0), files.subList(1, files.size()));
        } else {
            for (Path file : files) {
                judge.judgeMemory(file);
            }
        }
        judge.faults.stream().limit(MOST_SHOWN).forEach(fault -> System.out.println("FAULT: " + fault));
        System.exit(judge.faults.isEmpty() ? 0 : 1);
    }

    /**
     * A call that was answered has been executed, and one that cannot have been sent has not. A process of a server executes a
     * call once. Its next process knows nothing of that: it may execute the call again, if the call may be made again.
     */
    private void judgeCalls(Path outcomesFile, List<Path> ledgers) throws IOException {
        BitSet executed = new BitSet();
        Map<Long, Set<Integer>> again = new HashMap<>();
        for (Path ledger : ledgers) {
            try (DataInputStream entries = open(ledger)) {
                for (long left = Files.size(ledger) / SoakProgram.ENTRY_BYTES; left > 0; left--) {
                    long number = entries.readLong();
                    entries.readInt();
                    if (executed.get(Math.toIntExact(number))) {
                        again.computeIfAbsent(number, key -> new HashSet<>());
                    }
                    executed.set((int) number);
                }
            }
        }
        judgeRepeated(ledgers, again);
        int[] byOutcome = new int[128];
        BitSet told = new BitSet();
        int highest = -1;
        try (DataInputStream outcomes = open(outcomesFile)) {
            for (long left = Files.size(outcomesFile) / (Long.BYTES + 1); left > 0; left--) {
                int number = Math.toIntExact(outcomes.readLong());
                int outcome = outcomes.readByte();
                byOutcome[outcome]++;
                highest = Math.max(highest, number);
                if (told.get(number)) {
                    faults.add("call " + number + " has ended twice");
                }
                told.set(number);
                boolean counted = SoakProgram.procedure(number) == SoakProgram.COUNTED;
                if (outcome == SoakClients.ANSWERED && counted && !executed.get(number)) {
                    faults.add("call " + number + " was answered and not executed");
                }
                if (outcome == SoakClients.NOT_SENT && executed.get(number)) {
                    faults.add("call " + number + " was not sent, and executed");
                }
            }
        }
        if (told.cardinality() != highest + 1) {
            faults.add(highest + 1 - told.cardinality() + " calls have not ended, the first is " + told.nextClearBit(0));
        }
        if (byOutcome[SoakClients.LOST] > 0) {
            faults.add(byOutcome[SoakClients.LOST] + " calls were lost");
        }
        if (byOutcome[SoakClients.ANSWERED] < 1000) {
            faults.add("only " + byOutcome[SoakClients.ANSWERED] + " calls were answered");
        }
        System.out.println((highest + 1) + " calls, " + executed.cardinality() + " in the ledgers: "
                + byOutcome[SoakClients.ANSWERED] + " answered, " + byOutcome[SoakClients.LOST] + " lost, "
                + byOutcome[SoakClients.UNKNOWN] + " ended by their client or not to be made again, "
                + byOutcome[SoakClients.NOT_SENT] + " never sent, " + again.size()
                + " executed again by a server's next process");
    }

    /** The second time through, so that only the few numbers that come twice are kept. */
    private void judgeRepeated(List<Path> ledgers, Map<Long, Set<Integer>> again) throws IOException {
        for (Path ledger : ledgers) {
            try (DataInputStream entries = open(ledger)) {
                for (long left = Files.size(ledger) / SoakProgram.ENTRY_BYTES; left > 0; left--) {
                    long number = entries.readLong();
                    int process = entries.readInt();
                    Set<Integer> processes = again.get(number);
                    if (processes != null && !processes.add(process)) {
                        faults.add("call " + number + " was executed twice by process " + process + " of " + ledger);
                    }
                }
            }
        }
        again.forEach((number, processes) -> {
            if (SoakProgram.retransmission(number) != Retransmission.ALWAYS) {
                faults.add("call " + number + ", which must not be made again, was executed by processes " + processes);
            }
        });
    }

    private void judgeMemory(Path log) throws IOException {
        List<Map<String, Integer>> measures = new ArrayList<>();
        for (String line : Files.readAllLines(log)) {
            if (line.startsWith("measure ")) {
                Map<String, Integer> figures = new HashMap<>();
                for (Matcher figure = FIGURE.matcher(line); figure.find();) {
                    figures.put(figure.group(1), Integer.parseInt(figure.group(2)));
                }
                measures.add(figures);
            }
        }
        int part = measures.size() / 5;
        if (part < 3) {
            faults.add(log + ": too few figures");
            return;
        }
        StringBuilder text = new StringBuilder(log.getFileName().toString()).append(':');
        for (String name : List.of("heap", "direct", "registered", "resident", "descriptors", "threads")) {
            int before = median(measures.subList(part, 2 * part), name);
            int after = median(measures.subList(measures.size() - part, measures.size()), name);
            text.append(' ').append(name).append(' ').append(before).append(" -> ").append(after).append(';');
            if (after > before + TOLERANCE.get(name)) {
                faults.add(log + ": " + name + " has grown from " + before + " to " + after);
            }
        }
        System.out.println(text.substring(0, text.length() - 1));
    }

    private static int median(List<Map<String, Integer>> measures, String name) {
        int[] values = measures.stream().mapToInt(figures -> figures.get(name)).sorted().toArray();
        return values[values.length / 2];
    }

    private static DataInputStream open(Path file) throws IOException {
        return new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16));
    }
}
