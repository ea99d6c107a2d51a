package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.RequestTimeoutIntegrationSuite;

public class SparkRequestTimeoutTest extends RequestTimeoutIntegrationSuite {
}
