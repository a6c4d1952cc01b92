// The code for hosted agents, and the library of their protocol, are loaded by the first run that needs them.

import type { HostedWork } from './create-host-work.ts'

/** `isLeft`: an earlier process may have left something to tidy up. */
export function createLaterHostWork(load: () => Promise<HostedWork>, isLeft: () => Promise<boolean>): HostedWork {
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
    nudge: (sessionId, text, isByPerson) => loaded?.nudge(sessionId, text, isByPerson) ?? false,
    async tidy() {
      if (loaded !== null || (await isLeft())) await (await work()).tidy()
    },
    close: async () => loaded?.close(),
  }
}
