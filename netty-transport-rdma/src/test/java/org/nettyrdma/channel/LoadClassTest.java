package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoadClassTest {

    @ParameterizedTest
    @ValueSource(classes = {Rdma.class, RdmaChannel.class, RdmaServerChannel.class, RdmaEventLoopGroup.class,
            RdmaChannelOption.class, RdmaChannelConfig.class, RdmaServerChannelConfig.class, RegisteredByteBufAllocator.class,
            RdmaSend.class, RdmaRead.class, RdmaWrite.class, ExposedMemory.class, RdmaException.class})
    void shouldLoadPublicClassesWhereNoProviderIsAvailable(Class<?> type) {
        assertDoesNotThrow(() -> Class.forName(type.getName(), true, type.getClassLoader()));
    }

    @ParameterizedTest
    @ValueSource(classes = {RdmaChannel.class, RdmaServerChannel.class})
    void shouldCreateChannelsWhereNoProviderIsAvailable(Class<?> type) {
        assertDoesNotThrow(() -> type.getConstructor().newInstance());
    }
}
