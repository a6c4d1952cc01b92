// The browsers that take push messages. They are notes of the channels, and there is a copy in memory.

import { z } from 'zod'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { isLoopback } from '../../domain/is-loopback.ts'
import { jsonIn } from '../../domain/json-in.ts'
import type { Logger } from '../../domain/logger.ts'
import type { OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import {
  MOST_PUSH_SUBSCRIPTIONS,
  type NewPushSubscription,
  type PushSubscription,
} from '../../domain/supervision/push-subscription.ts'
import { sha256 } from '../../json/digest.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { OutboxReads } from '../../store/ports/outbox.ts'
import { configuredOperators } from '../../supervision/sessions/may-command.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import { isPrivateHost } from '../../tools/http/service/safe-address.ts'
import type { Changes } from '../outbox.ts'
import { browserKeysProblem } from './encrypt-payload.ts'
import type { VapidKeys } from './vapid.ts'

interface SubscriptionsDeps {
  store: Pick<OutboxReads, 'notes'>
  log: Pick<SessionLog, 'commit'>
  clock: Clock
  operators: readonly OperatorSettings[]
  /** Called when somebody subscribes, or has. */
  keys: () => Promise<VapidKeys>
  /** Whether only this machine can reach the server. */
  isLocalServer: boolean
  logger: Logger
  /** Where other processes share the store, so that the copy stays true. */
  changes: Changes
}

const TOPIC = 'push'

export const pushChannel = (person: string): string => `push:${person}`

const PREFIX = 'subscription/'

const NoteSchema = z.object({
  endpoint: z.string(),
  keys: z.object({ p256dh: z.string(), auth: z.string() }),
  label: z.string().nullable(),
  created_at: z.number(),
  /** Our public key at that time. A browser takes messages only from whoever has its private part. */
  for_key: z.string(),
})

export async function openPushSubscriptions(deps: SubscriptionsDeps) {
  const { store, log, clock, operators, keys, isLocalServer, logger, changes } = deps
  const { personOf } = configuredOperators(operators)
  const watchers = new Set<(channel: string) => void>()
  const turns = createTurns()
  /** One change at a time, so that the limit holds. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns(TOPIC, work)
  const known = new Map<string, Map<string, PushSubscription>>()
  for (const { name } of operators) known.set(name, await readNotes(name))
  changes.watch(TOPIC, () => {
    inTurn(readAgain).catch((error: unknown) => logger.warn('the browsers cannot be read just now', { error }))
  })

  function onSubscribed(channel: string): void {
    for (const look of watchers) look(channel)
  }

  /** What other processes have changed. */
  async function readAgain(): Promise<void> {
    for (const [person, before] of [...known]) {
      const now = await readNotes(person)
      known.set(person, now)
      if ([...now.keys()].some((id) => !before.has(id))) onSubscribed(pushChannel(person))
    }
  }

  async function readNotes(person: string): Promise<Map<string, PushSubscription>> {
    const found = new Map<string, PushSubscription>()
    for (const { channel, key, value } of await store.notes(pushChannel(person))) {
      const { data: note } = NoteSchema.safeParse(jsonIn(value))
      if (note?.for_key === (await keys()).publicKey) {
        const { endpoint, label, created_at: createdAt } = note
        const id = key.slice(PREFIX.length)
        found.set(id, { id, person, label, createdAt, endpoint, keys: note.keys })
      } else {
        await log.commit({ type: 'note_for_channel', channel, key, value: null })
      }
    }
    return found
  }

  const ofPerson = (person: string): Map<string, PushSubscription> => known.get(person) ?? new Map()

  function personFor({ user }: Caller): string {
    const person = personOf(user)
    if (known.has(person)) return person
    throw new ServerError(
      'forbidden',
      `Push messages reach operators whom quarterdeck.yaml lists by name: operators[].name, logins or console. ${JSON.stringify(user)} is none of them.`,
    )
  }

  async function put({ id, person, label, createdAt, endpoint, keys: browser }: PushSubscription): Promise<void> {
    const note = { endpoint, keys: browser, label, created_at: createdAt, for_key: (await keys()).publicKey }
    const [channel, key, value] = [pushChannel(person), `${PREFIX}${id}`, JSON.stringify(note)]
    await log.commit({ type: 'note_for_channel', channel, key, session: null, value, at: clock.now() })
  }

  async function remove({ id, person }: PushSubscription): Promise<void> {
    await log.commit({ type: 'note_for_channel', channel: pushChannel(person), key: `${PREFIX}${id}`, value: null })
    ofPerson(person).delete(id)
    await changes.tell(TOPIC)
  }

  return {
    /** Our public key: what a browser needs to subscribe. */
    publicKey: async (): Promise<string> => (await keys()).publicKey,
    of: (person: string): readonly PushSubscription[] => [...ofPerson(person).values()],
    /** Those of the caller. Throws `forbidden` for somebody whom the settings do not name as an operator. */
    list: (by: Caller): Promise<readonly PushSubscription[]> =>
      inTurn(async () => {
        const person = personFor(by)
        await readAgain()
        return [...ofPerson(person).values()]
      }),
    /** The same browser again replaces what is known about it. Throws `forbidden`, `invalid_request` or `limit`. */
    subscribe: (by: Caller, wanted: NewPushSubscription): Promise<PushSubscription> =>
      inTurn(async () => {
        const person = personFor(by)
        refuseBadSubscription(wanted, isLocalServer)
        await readAgain()
        const mine = ofPerson(person)
        const id = sha256(wanted.endpoint).slice(0, 32)
        const before = mine.get(id)
        if (before === undefined && mine.size >= MOST_PUSH_SUBSCRIPTIONS) throw tooMany()
        const subscription = { ...wanted, id, person, createdAt: before?.createdAt ?? clock.now() }
        await put(subscription)
        mine.set(id, subscription)
        await changes.tell(TOPIC)
        onSubscribed(pushChannel(person))
        return subscription
      }),
    /** Throws `forbidden`, or `record_not_found` for one that is not the caller's. */
    unsubscribe: (by: Caller, id: string): Promise<void> =>
      inTurn(async () => {
        const person = personFor(by)
        await readAgain()
        const subscription = ofPerson(person).get(id)
        if (subscription === undefined) {
          throw new ServerError('record_not_found', `You have no push subscription ${JSON.stringify(id.slice(0, 64))}.`)
        }
        await remove(subscription)
      }),
    /** The push service says that the browser is gone. */
    forget: (subscription: PushSubscription): Promise<void> => inTurn(() => remove(subscription)),
    /** Calls `look` with the name of a channel when a browser has subscribed. */
    watch: (look: (channel: string) => void): void => void watchers.add(look),
    /** Whether the address leads to this machine, which only a server that is itself for this machine may call. */
    isLocal: (endpoint: URL): boolean => isLocalServer && isLocalEndpoint(endpoint),
  }
}

export type PushSubscriptions = Awaited<ReturnType<typeof openPushSubscriptions>>

const isLocalEndpoint = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && isLoopback(hostname)

/** A browser names the address, and the server calls it. So it may not lead into our own network. Names are checked at every call. */
function refuseBadSubscription({ endpoint, keys }: NewPushSubscription, isLocalServer: boolean): void {
  const url = URL.parse(endpoint)
  const isSafe =
    url !== null &&
    url.username === '' &&
    url.password === '' &&
    ((url.protocol === 'https:' && !isPrivateHost(url)) || (isLocalServer && isLocalEndpoint(url)))
  const keysProblem = browserKeysProblem(keys)
  if (isSafe && keysProblem === null) return
  throw new ServerError('invalid_request', 'This is not a push subscription that the server can use.', {
    problems: [
      ...(isSafe
        ? []
        : [{ pointer: '/endpoint', detail: 'Send the https address of a push service on the public internet.' }]),
      ...(keysProblem === null ? [] : [{ pointer: '/keys', detail: keysProblem }]),
    ],
  })
}

const tooMany = (): ServerError =>
  new ServerError(
    'limit',
    `You have ${MOST_PUSH_SUBSCRIPTIONS} browsers with push messages. Remove one with DELETE /push/subscriptions/{id}.`,
  )
