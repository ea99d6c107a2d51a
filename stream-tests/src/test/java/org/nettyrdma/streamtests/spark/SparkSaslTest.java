package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.sasl.SparkSaslSuite;

public class SparkSaslTest extends SparkSaslSuite {
}
