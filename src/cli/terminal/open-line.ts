import { isLoopback } from '../../domain/is-loopback.ts'

/** True when others on the network can read what is sent to this address. */
export const isOpenLine = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && !isLoopback(hostname)
