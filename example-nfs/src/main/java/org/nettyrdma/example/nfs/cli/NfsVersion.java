package org.nettyrdma.example.nfs.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code nfs --version} prints. */
final class NfsVersion implements IVersionProvider {

    @Override
    public String[] getVersion() {
        String version = NfsVersion.class.getPackage().getImplementationVersion();
        return new String[] {"nfs (netty-rdma" + (version == null ? "" : " " + version) + ")"};
    }
}
