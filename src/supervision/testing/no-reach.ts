import type { Reach } from '../reach.ts'

/** Reaches nobody. */
export const noReach: Reach = {
  postLog: async () => ({ posted: false, reason: 'There is no channel.' }),
  tell() {},
  tellNow() {},
  modeChanged() {},
  explainMode: () => null,
  isTroubled: () => false,
  trouble: () => null,
  roomOf: () => null,
  recent: async () => null,
}
