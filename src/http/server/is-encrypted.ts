import type { Socket } from 'node:net'

/** Whether it is a TLS connection. `instanceof TLSSocket` would load all of node:tls, which a server without TLS does not need. */
export const isEncrypted = (socket: Socket): boolean => 'encrypted' in socket && socket.encrypted === true
