package org.nettyrdma.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testkit.TestAddress;

/**
 * Skips a test where there is no RDMA device, no native library, or no address of the device in {@code -Drdma.address}, and says
 * why. With {@code -Drdma.requireDevice=true} the test runs all the same, and fails.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(RequiresRdmaDevice.Condition.class)
public @interface RequiresRdmaDevice {

    /** Asks the provider. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            Throwable cause = Rdma.provider("disni").unavailabilityCause();
            if (Boolean.getBoolean("rdma.requireDevice") || cause == null && TestAddress.isGiven()) {
                return ConditionEvaluationResult.enabled("there is a device, or there must be one");
            }
            return ConditionEvaluationResult.disabled(cause != null ? cause.getMessage()
                    : "there is a device, but -Drdma.address names no address of it");
        }
    }
}
