import type { HostWork } from '../ports/host-work.ts'

/** For engines whose agents all have models. */
export const noHostWork: HostWork = {
  work: () => Promise.reject(new Error('no agent of this engine works in a host')),
  isHeldElsewhere: () => false,
}
