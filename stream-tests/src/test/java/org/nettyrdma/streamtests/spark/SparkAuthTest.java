package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.crypto.AuthIntegrationSuite;

public class SparkAuthTest extends AuthIntegrationSuite {
}
