// The code for hosted agents, and the library of their protocol, are loaded by the first run that needs them.

import type { HostedWork } from './create-host-work.ts'

export function createLaterHostWork(load: () => Promise<HostedWork>): HostedWork {
  let loading: Promise<HostedWork> | null = null
  let loaded: HostedWork | null = null
  const work = async (): Promise<HostedWork> => {
    loading ??= load()
    loaded = await loading
    return loaded
  }
  return {
    work: async (lane) => (await work()).work(lane),
    isHeldElsewhere: (sessionId) => loaded?.isHeldElsewhere(sessionId) ?? false,
    nudge: (sessionId, text) => loaded?.nudge(sessionId, text) ?? false,
    tidy: async () => loaded?.tidy(),
    close: async () => loaded?.close(),
  }
}
