// A channel to a service in memory, which keeps its messages and can be made to fail.

import type { FeedItem } from '../../domain/session/feed.ts'
import type { Decision } from '../../domain/supervision/decision.ts'
import type { Approvals } from '../../supervision/approvals/approvals.ts'
import { DeliveryFailed, type OperatorChannel, type RecordLookup } from '../operator.ts'

/** How the service answers: it works, fails, asks to come later, refuses for good, or never answers. */
export type Behaviour = 'works' | 'fails' | 'hangs' | 'refuses' | { retryAfterMs: number }

export interface RecordingChannel extends OperatorChannel {
  /** What operators see, oldest first. */
  messages(): string[]
  /** Every try, in order: the number of the delivery. */
  readonly tries: number[]
  /** How the next tries end; those after them work. */
  behave(...next: Behaviour[]): void
  /** The most deliveries of one session that were under way at the same time. */
  mostAtOnce(): number
  /** An operator presses a button. Gives what the channel shows them. */
  press(approvalId: string, decision: Decision['decision']): Promise<string>
}

export function createRecordingChannel(
  { approvals, find }: RecordLookup & { approvals?: Pick<Approvals, 'decide'> },
  { name = 'recording', concerns = () => true }: { name?: string; concerns?: (item: FeedItem) => boolean } = {},
): RecordingChannel {
  const eve = { user: 'eve', role: 'operator' } as const
  /** By what the service calls them. */
  const messages = new Map<string, string>()
  const tries: number[] = []
  const behaviours: Behaviour[] = []
  const underWay = new Map<string, number>()
  let most = 0

  async function answerOf(behaviour: Behaviour, signal: AbortSignal): Promise<void> {
    if (behaviour === 'works') return
    if (behaviour === 'fails') throw new Error('The service is down.')
    if (behaviour === 'refuses') throw new DeliveryFailed('The service will never take this.', { giveUp: true })
    if (behaviour !== 'hangs') throw new DeliveryFailed('Too many requests.', behaviour)
    await new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
  }

  return {
    name,
    surface: 'remote',
    concerns,
    tries,
    messages: () => [...messages.values()],
    behave: (...next) => void behaviours.push(...next),
    mostAtOnce: () => most,

    async deliver({ n, item, count }, signal) {
      tries.push(n)
      const lane = item?.sessionId ?? ''
      underWay.set(lane, (underWay.get(lane) ?? 0) + 1)
      most = Math.max(most, underWay.get(lane) ?? 0)
      try {
        await answerOf(behaviours.shift() ?? 'works', signal)
      } finally {
        underWay.set(lane, (underWay.get(lane) ?? 1) - 1)
      }
      const shown = item === null ? null : await find(item)
      // Named after the delivery, so that the same one that comes again replaces its message.
      const ref = shown?.messageRefs[name] ?? `message ${n}`
      messages.set(ref, item === null ? `${count} more` : `${item.kind} ${item.status}`)
      return ref
    },

    async press(approvalId, decision) {
      try {
        if (approvals === undefined) throw new Error('nobody decides here')
        const { approval } = await approvals.decide(eve, approvalId, { decision })
        return `${approval.status} by ${approval.decidedBy}`
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },

    close: async () => {},
  }
}
