package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.client.TransportClientFactorySuite;

public class SparkTransportClientFactoryTest extends TransportClientFactorySuite {
}
