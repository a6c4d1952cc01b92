import type { Messenger } from '../messenger.ts'

/** Reaches nobody. */
export const noMessenger: Messenger = {
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
