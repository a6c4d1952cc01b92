import type { Blobs } from '../../files/keep/blob-folder.ts'
import type { Store } from '../../store/store.ts'
import type { ArchiveTarget } from '../commands/sessions/import.ts'

/** What the process would have said if it had not been killed. */
export class Killed extends Error {}

/**
 * The target of an import in a process that is killed right after the `n`-th step that changes something. A dead process does nothing
 * more, not even tidy up.
 */
export function killedAfter(target: { store: Store; blobs: Blobs }, n: number) {
  let steps = 0
  let isDead = false
  let openFile: { discard(): Promise<void> } | null = null
  async function step<T>(work: () => Promise<T>): Promise<T> {
    if (isDead) throw new Killed()
    steps += 1
    isDead = steps === n
    const done = await work()
    if (isDead) throw new Killed()
    return done
  }

  const store: Store = {
    ...target.store,
    commit: (commands) =>
      step(async () => {
        const committed = await target.store.commit(commands)
        await committed.synced
        return committed
      }),
  }
  const blobs: ArchiveTarget['blobs'] = {
    begin: (id) =>
      step(async () => {
        const incoming = await target.blobs.begin(id)
        openFile = incoming
        return {
          path: incoming.path,
          write: (bytes) => step(() => incoming.write(bytes)),
          sync: () => step(() => incoming.sync()),
          keepAs: (sha256) => step(() => incoming.keepAs(sha256)),
          discard: async () => (isDead ? undefined : incoming.discard()),
        }
      }),
  }
  return {
    store,
    blobs,
    /** What the system does for a dead process: it closes its file. */
    async bury(): Promise<void> {
      await openFile?.discard()
    },
  }
}
