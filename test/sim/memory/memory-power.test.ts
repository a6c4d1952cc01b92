import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accept, append, fact, finish, NOW, newSession, text } from '../../../src/store/contract/samples.contract.ts'
import { type Command, needsSync } from '../../../src/store/ports/command.ts'
import type { NewEntry } from '../../../src/store/ports/journal.ts'
import type { Store } from '../../../src/store/store.ts'
import { runs } from '../../tier.ts'
import { createManualClock } from './manual-clock.ts'
import { crash, createMemoryDisk } from './memory-disk.ts'
import { SEQ_BLOCK } from './memory-state.ts'
import { createMemoryStore } from './memory-store.ts'

const steps = ['accept', 'text', 'fact', 'finish', 'start', 'cancel', 'claim', 'release', 'kill', 'power cut'] as const
type Step = { what: (typeof steps)[number]; size: number }

/** Text is frequent and sometimes as long as a block of seqs. Otherwise no trial would reach the end of a block. */
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant('text'), size: fc.constantFrom(1, 1, 2, SEQ_BLOCK - 3, SEQ_BLOCK) }),
  fc.record({ what: fc.constantFrom(...steps), size: fc.nat({ max: 5 }) }),
)

/** One session on a slow disk, readers who remember what they saw, and a list of broken promises. */
function createTrial(delays: Iterator<number>) {
  const clock = createManualClock(NOW)
  const session = newSession()
  const shown = new Map<number, string>()
  const acknowledged = new Map<number, string>()
  const broken: string[] = []
  let disk = createMemoryDisk()
  let store = open()
  let words = 0

  function open(): Store {
    return createMemoryStore({
      disk,
      clock,
      faults: ({ kind }) => (kind === 'sync' ? { delayMs: delays.next().value ?? 0 } : undefined),
    })
  }

  // No two entries are equal, so a seq that is used twice is noticed.
  function unique(make: (word: string) => NewEntry): NewEntry {
    words += 1
    return make(`${words}`)
  }
  const word = (): NewEntry => unique(text)
  const mark = (): NewEntry => unique(fact)

  /** Shows readers what the command wrote as soon as they may see it. */
  async function send(command: Command): Promise<void> {
    const { results, synced } = await store.commit([command])
    const [result] = results
    if (result?.ok !== true || result.firstSeq === 0) return
    const own = JSON.stringify(command)
    const entries = await store.entries(session.id, result.firstSeq - 1, SEQ_BLOCK * 2)
    if (needsSync(command)) await synced
    for (const { seq, data } of entries.filter((entry) => own.includes(JSON.stringify(entry.data)))) {
      if ((shown.get(seq) ?? data) !== data) broken.push(`seq ${seq} was ${shown.get(seq)} and is ${data}`)
      shown.set(seq, data)
      if (needsSync(command)) acknowledged.set(seq, data)
    }
  }

  async function take({ what, size }: Step): Promise<void> {
    const [run] = await store.runs.open(session.id)
    const start = { entries: [word()], messages: [] }
    if (what === 'kill' || what === 'power cut') {
      disk = crash(disk, { keep: what === 'kill' ? 'written' : (unsynced) => Math.min(size, unsynced) })
      store = open()
      for (const [seq, data] of acknowledged) {
        const [entry] = await store.entries(session.id, seq - 1, 1)
        if (entry?.data !== data) broken.push(`seq ${seq} was acknowledged as ${data} and is ${entry?.data}`)
      }
    } else if (what === 'accept') void send(accept(session, { acceptEntries: [mark()], start }))
    else if (run === undefined) return
    else if (what === 'text') void send(append(run, Array.from({ length: size }, word)))
    else if (what === 'fact') void send(append(run, [mark()], { sync: true }))
    else if (what === 'finish') void send(finish(run, { entries: [word()] }))
    else if (what === 'cancel') void send({ type: 'request_cancel', runId: run.id, entries: [mark()] })
    else if (what === 'release') void send({ type: 'release_run', runId: run.id, fence: run.fence })
    else if (what === 'start') void send({ type: 'start_run', runId: run.id, leaseOwner: 'p', now: NOW, start })
    else {
      const entries = [mark()]
      void send({ type: 'claim_run', runId: run.id, fence: run.fence, leaseOwner: 'p', entries })
    }
  }

  return {
    async play(list: readonly Step[]): Promise<string[]> {
      for (const one of list) {
        await take(one)
        await clock.advance(1)
      }
      return broken
    },
  }
}

test('whenever the power fails, no seq has two meanings and nothing acknowledged is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.infiniteStream(fc.nat({ max: 7 })), async (list, delays) => {
      expect(await createTrial(delays).play(list)).toEqual([])
    }),
    { numRuns: runs(400) },
  )
})
