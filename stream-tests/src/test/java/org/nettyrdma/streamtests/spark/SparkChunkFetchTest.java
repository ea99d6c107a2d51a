package org.nettyrdma.streamtests.spark;

import org.apache.spark.network.ChunkFetchIntegrationSuite;

public class SparkChunkFetchTest extends ChunkFetchIntegrationSuite {
}
