// One stream over several sources: the feed, and the logs of the named sessions.

import { ServerError } from '../../../domain/errors.ts'
import { ulidOf } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import type { FeedItem } from '../../../domain/session/feed.ts'
import type { Feed } from '../../../engine/feed.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { Sessions } from '../../../engine/ports/sessions.ts'
import type { ByteStream } from '../../../http/route.ts'
import { sseFrame } from '../../../http/sse.ts'
import type { OthersLooks } from '../../../supervision/inbox/who-looks.ts'
import { createMaskedFollow } from '../../shared/events/mask-entries.ts'
import { feedId, feedView, takenView } from './feed-view.ts'

interface StreamFeedDeps {
  feed: Feed
  engine: { runs: Pick<Runs, 'follow'>; sessions: Pick<Sessions, 'readLog'> }
}

export interface FeedStream {
  /** Number of the last item that the reader has seen. */
  after: number
  /** The sessions whose events are sent too, and the last event of each that the reader has seen. */
  sessions: readonly { id: string; after: number }[]
  /** Which items are sent. */
  wants(item: FeedItem): boolean
  /** Who else looks at items of the inbox. Null: the reader may not know it. */
  looks: OthersLooks | null
  /** Who pays for large reads in the budget that all readers share. */
  owner: string
}

/** A reader that is sent none of this many items gets a new cursor, so that its old one does not outlive the items behind it. */
const CURSOR_EVERY = 1_000

/** Sends what comes until the reader goes or the server stops, without the secrets of the sessions. Never rejects. */
export async function streamFeed(
  { feed, engine }: StreamFeedDeps,
  { after, sessions, wants, looks, owner }: FeedStream,
  { stream, signal: gone, log }: { stream: ByteStream; signal: AbortSignal; log: Logger },
): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([gone, over.signal])
  const follow = createMaskedFollow(engine)
  let seen = after
  let unsent = 0
  const places = sessions.map((session) => ({ ...session, ulid: ulidOf(session.id) }))
  const cursor = (): string => [feedId(seen), ...places.map(({ ulid, after }) => `${ulid}.${after}`)].join(',')

  // The sources take turns. What is sent is made when it is written, so that its cursor covers all that was written before it.
  let turn: Promise<unknown> = Promise.resolve()
  function send(frames: () => string): Promise<void> {
    const sent = turn.then(() => {
      const text = frames()
      return text === '' ? undefined : stream.write(text)
    })
    turn = sent.catch(() => {})
    return sent
  }

  function itemFrames(items: readonly FeedItem[]): string {
    let text = ''
    for (const item of items) {
      seen = item.n
      unsent += 1
      if (!wants(item) && unsent < CURSOR_EVERY) continue
      unsent = 0
      text += sseFrame({ id: cursor(), data: JSON.stringify(wants(item) ? feedView(item) : { type: 'cursor' }) })
    }
    return text
  }

  function entryFrames(place: (typeof places)[number], entries: readonly Entry[]): string {
    let text = ''
    for (const { seq, kind, data } of entries) {
      if (kind !== 'event') continue
      place.after = seq
      const head = `{"type":"entry","id":"${place.ulid}.${seq}","session_id":"${place.id}"`
      text += sseFrame({ id: cursor(), data: `${head},"event":${data}}` })
    }
    return text
  }

  let taken = '[]'
  function takenFrame(): string {
    const items = JSON.stringify(looks?.list().map((look) => ({ id: look.id, taken_by: takenView(look) })) ?? [])
    if (items === taken) return ''
    taken = items
    return sseFrame({ data: `{"type":"taken","items":${items}}` })
  }
  const sendTaken = () => void send(takenFrame).catch(() => {})

  async function sendFeed(): Promise<void> {
    for await (const items of feed.follow(after, signal)) await send(() => itemFrames(items))
    if (!signal.aborted)
      throw new ServerError('shutting_down', 'The server is stopping. Connect again with your last id.')
  }

  async function sendSession(place: (typeof places)[number]): Promise<void> {
    const holder = { owner, onOverdue: () => stream.drop() }
    const source = follow({ sessionId: place.id, after: place.after, holder }, signal)
    for await (const entries of source) await send(() => entryFrames(place, entries))
  }

  const sources = [
    send(() => sseFrame({ id: cursor(), data: '{"type":"cursor"}' })),
    sendFeed(),
    ...places.map((place) => sendSession(place)),
  ]
  sendTaken()
  const stopLooking = looks?.watch(sendTaken)
  try {
    await Promise.all(sources)
  } catch (error) {
    over.abort()
    await Promise.allSettled(sources)
    if (!gone.aborted) await stream.write(errorFrame(error, log))?.catch(() => {})
  } finally {
    stopLooking?.()
  }
}

/** The last frame of a stream that ends by itself. It carries no id. The text of an unexpected error stays in the log. */
function errorFrame(error: unknown, log: Logger): string {
  if (!(error instanceof ServerError)) log.error('a stream of the feed failed', { error })
  const { code, message } =
    error instanceof ServerError
      ? error
      : {
          code: 'internal_error',
          message: 'The stream failed. The log of the server has the reason under the correlation id.',
        }
  return sseFrame({ data: JSON.stringify({ type: 'error', code, message }) })
}
