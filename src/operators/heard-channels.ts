// What a process that does not deliver knows about the channels: the one that delivers says it.

import { isRecord } from '../domain/is-record.ts'
import type { OperatorChannel } from './operator.ts'
import type { Outbox } from './outbox.ts'

/** Where processes on one store say how they are, and hear it of the others. */
interface Board {
  say(topic: string, what: () => unknown): void
  heard(topic: string): readonly { said: unknown }[]
}

const TROUBLES = 'channel troubles'
const SHOWN = 'channels shown'

/** The same channels. One that works here is in trouble if the process that delivers says so. */
export function withTroublesElsewhere(channels: readonly OperatorChannel[], board: Board): OperatorChannel[] {
  board.say(TROUBLES, () =>
    Object.fromEntries(
      channels.flatMap(({ name, trouble }) => {
        const here = trouble?.() ?? null
        return here === null ? [] : [[name, here]]
      }),
    ),
  )
  return channels.map((channel) => {
    const { name, trouble } = channel
    if (trouble === undefined) return channel
    return { ...channel, trouble: () => trouble() ?? textOf(board, name) }
  })
}

/** When a channel last showed something, at whichever process. */
export function lastShownAnywhere(
  channels: readonly OperatorChannel[],
  outbox: Pick<Outbox, 'lastShownAt'>,
  board: Board,
): Outbox['lastShownAt'] {
  board.say(SHOWN, () => Object.fromEntries(channels.map(({ name }) => [name, outbox.lastShownAt(name)])))
  return (channel) => {
    const times = saidOf(board, SHOWN, channel).filter((at) => typeof at === 'number')
    const latest = Math.max(outbox.lastShownAt(channel) ?? 0, ...times)
    return latest === 0 ? null : latest
  }
}

const textOf = (board: Board, channel: string): string | null =>
  saidOf(board, TROUBLES, channel).find((said) => typeof said === 'string') ?? null

const saidOf = (board: Board, topic: string, channel: string): unknown[] =>
  board.heard(topic).flatMap(({ said }) => (isRecord(said) && Object.hasOwn(said, channel) ? [said[channel]] : []))
