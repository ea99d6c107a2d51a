package org.nettyrdma.streamtests.testsuite;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.nettyrdma.streamtests.StreamTransport;

/**
 * Of the 32 ways to set the five switches of a test, 8 that have each two switches in all four ways (an orthogonal array). The
 * system property {@value #ALL} runs the others as well, but not once more for other event loops.
 */
final class PairsOfSwitches implements ExecutionCondition {

    private static final String ALL = "nettyrdma.streamTests.all";
    private static final Pattern SWITCH = Pattern.compile(" = (true|false)");
    private static final int SWITCHES = 5;

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        List<Boolean> on = SWITCH.matcher(context.getDisplayName()).results().map(one -> Boolean.valueOf(one.group(1))).toList();
        if (on.size() != SWITCHES || Boolean.getBoolean(ALL) && !StreamTransport.isOnIoHandler()) {
            return ConditionEvaluationResult.enabled(null);
        }
        return on.get(3) == (on.get(0) ^ on.get(1)) && on.get(4) == (on.get(0) ^ on.get(2))
                ? ConditionEvaluationResult.enabled("one of those for each pair")
                : ConditionEvaluationResult.disabled("runs with -D" + ALL + "=true");
    }
}
