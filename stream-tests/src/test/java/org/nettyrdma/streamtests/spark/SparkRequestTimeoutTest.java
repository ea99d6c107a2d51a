package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.RequestTimeoutIntegrationSuite;
import org.junit.runner.RunWith;

/** Each of its tests waits ten seconds for a timeout. */
@RunWith(MethodsAtOnce.class)
public class SparkRequestTimeoutTest extends RequestTimeoutIntegrationSuite {
}
