package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.StreamSuite;

public class SparkStreamTest extends StreamSuite {
}
