package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.RpcIntegrationSuite;

public class SparkRpcTest extends RpcIntegrationSuite {
}
