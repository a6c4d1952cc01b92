import { isLoopback } from '../../config/settings/loopback.ts'

/** Whether what is sent to this address can be read on its way. */
export const isOpenLine = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))
