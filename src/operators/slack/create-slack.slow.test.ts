import { hash, randomUUID as newId } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { isOfFeed } from '../../domain/supervision/delivery.ts'
import { createJobs } from '../../engine/sessions/jobs.ts'
import type { SessionLog } from '../../log/session-log.ts'
import { createAlone } from '../../replicas/create-alone.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import type { Shared } from '../../store/ports/shared.ts'
import { agentIn, ann, callOf } from '../../supervision/testing/open-supervision.ts'
import { alert } from './cards/testing/sample-records.ts'
import { ANA, OPS, openSlackServer, textOf, until } from './testing/open-slack.ts'
import { buttonsOf } from './testing/people.ts'
import type { ShownMessage } from './testing/slack-workspace.ts'

describe('a room of Slack', () => {
  test('has a thread for each session and in it a card, which changes when somebody decides elsewhere', async () => {
    const { open, ask, slack, approvals, tops, replies, delivered } = await openSlackServer()
    const server = open()
    await server.start()
    const asked = await ask()
    await delivered(server.channel, 2)
    const [root, card] = [tops()[0], replies()[0]]

    expect([tops().length, replies().length]).toEqual([1, 1])
    expect(card?.threadTs).toBe(root?.ts)
    expect(textOf(root ?? expect.fail())).toContain('claude-code')
    expect(buttonsOf(card ?? expect.fail()).map(({ text }) => text)).toEqual([
      'Approve',
      'Reject',
      'Approve and remember …',
      'Reject and remember …',
    ])
    expect(await server.cards.sessionOfThread(OPS, root?.ts ?? '')).toBe(asked.sessionId)

    await approvals.decide(ann, asked.id, { decision: 'reject', reason: 'Not now.' })
    await until(() => buttonsOf(replies()[0] ?? expect.fail()).length === 0)
    expect(textOf(replies()[0] ?? expect.fail())).toContain('Not now.')
    expect(slack.calls('chat.postMessage')).toBe(2)
  })

  test('says when the approved change was written, with its hash, and why it was not', async () => {
    const { open, ask, approvals, workspace, tools, replies, delivered, passUntil } = await openSlackServer()
    const server = open()
    await server.start()
    const { id, sessionId } = await ask()
    await delivered(server.channel, 2)
    await approvals.decide(ann, id, { decision: 'approve' })
    const said = (words: string) =>
      passUntil(() => replies()[0] !== undefined && textOf(replies()[0] ?? expect.fail()).includes(words))
    const accept = () => tools.accept_diff(callOf(agentIn(workspace, { sessionId })), { request_id: id })
    await said('The agent has not written it yet.')
    writeFileSync(join(workspace, 'src/greeting.txt'), 'Somebody was here\n')
    expect((await accept()).answer.error_code).toBe('patch_conflict')
    await said('Not written yet: ')
    writeFileSync(join(workspace, 'src/greeting.txt'), 'Hello\n')
    expect((await accept()).answer.status).toBe('applied')
    await said(hash('sha256', 'Hello, world\n').slice(0, 16))

    expect(textOf(replies()[0] ?? expect.fail())).toContain('Written')
    expect(textOf(replies()[0] ?? expect.fail())).not.toContain('It is being written.')
  })

  test('says so where a process died while it wrote, as soon as another one has finished it', async () => {
    const { open, ask, approvals, takeStep, recoverApplies, replies, delivered, passUntil } = await openSlackServer()
    const server = open()
    await server.start()
    const { id, sessionId } = await ask()
    await delivered(server.channel, 2)
    await approvals.decide(ann, id, { decision: 'approve' })
    await takeStep(sessionId, ({ at }) => ({
      result: null,
      settle: [{ id, patch: { status: 'consumed', consumedAt: at } }],
    }))
    const said = (words: string) => passUntil(() => textOf(replies()[0] ?? expect.fail()).includes(words))
    await said('It is being written.')
    await recoverApplies()
    await said(hash('sha256', 'Hello, world\n').slice(0, 16))
  })

  test('says in the thread what happened without a person, once each', async () => {
    const { open, ask, answerAgent, takeStep, sessionOf, replies, delivered, passUntil } = await openSlackServer()
    const first = open()
    await first.start()
    const asked = await ask()
    await delivered(first.channel, 2)
    if (asked.wait !== 'approval') throw new Error('not an approval')
    await answerAgent.expire(asked)
    const news = () =>
      replies()
        .slice(1)
        .map(({ text }) => text)
    await passUntil(() => news().length === 1)
    const session = await sessionOf(asked)
    const nudged = {
      ...alert,
      id: newId(),
      sessionId: session.id,
      owner: 'ann',
      status: 'pending',
      nudgeCount: 0,
      messageRefs: {},
      supervised: { host: 'claude-code' },
    } as const
    await takeStep(session.id, () => ({ result: null, ask: [nudged] }))
    await passUntil(() => replies().length === 3)
    const nudge = (nudgeCount: number) =>
      takeStep(session.id, ({ at }) => ({
        result: null,
        settle: [{ id: nudged.id, patch: { status: 'nudged', nudgeCount, nudgeMessage: 'Go on.', lastNudgeAt: at } }],
      }))
    await nudge(1)
    await passUntil(() => replies().length === 4)
    await first.close()
    await nudge(2)
    const second = open()
    await second.start()
    await passUntil(() => replies().length === 5)
    await takeStep(session.id, ({ at }) => ({
      result: null,
      settle: [{ id: nudged.id, patch: { status: 'self_recovered', decidedAt: at } }],
    }))
    await passUntil(() => replies().length === 6)
    await second.close()
    const third = open()
    await third.start()
    await delivered(third.channel, 6)

    const [expired, , once, twice, recovered, ...more] = news()
    expect(expired).toMatch(/^Expired · .+\nNobody answered in time.+\n.*asks to change a file$/s)
    expect([once, twice].map((text) => /Nudged∶ (once|2 times)/.exec(text ?? '')?.[1])).toEqual(['once', '2 times'])
    expect(recovered).toMatch(/^Recovered/)
    expect(more).toEqual([])
    expect(new Set(replies().map(({ threadTs }) => threadTs)).size).toBe(1)
  })

  test('shows nothing of a question that was answered before it could be shown', async () => {
    const { open, ask, slack, approvals, delivered } = await openSlackServer()
    const server = open()
    const asked = await ask()
    await approvals.decide(ann, asked.id, { decision: 'reject' })
    await server.start()
    await delivered(server.channel, 0)

    expect(slack.messages(OPS)).toEqual([])
  })

  test('calls the owner by their Slack id, whichever of their names the session has', async () => {
    const { open, ask, replies, delivered } = await openSlackServer()
    const server = open({ personOf: (name) => (name === 'ann' ? 'eve' : name) })
    await server.start()
    await ask('one', { risk: 'high' })
    await delivered(server.channel, 2)

    expect(textOf(replies()[0] ?? expect.fail())).toContain('<@U0EVE>, please answer.')
  })

  test('calls nobody about what is low: what is still open after a quarter of an hour is one message', async () => {
    const { open, ask, approvals, clock, replies, tops, passUntil, store } = await openSlackServer()
    const server = open()
    await server.start()
    const [, answered] = [await ask('one'), await ask('two'), await ask('three'), await ask('four', { risk: 'high' })]
    await passUntil(() => replies().length === 4)
    expect(replies().map((one) => textOf(one).includes('please answer'))).toEqual([false, false, false, true])
    await approvals.decide(ann, answered.id, { decision: 'reject' })
    expect(tops().length).toBe(4)
    await clock.advance(900_000)
    await passUntil(async () => (await store.outbox.deliveries(`${server.channel.name}:digest`)).length === 0)

    const [digest, ...more] = tops().slice(4)
    expect([digest?.text, more]).toEqual(['2 of low risk wait for an answer.', []])
    expect(textOf(digest ?? expect.fail())).not.toMatch(/<[@!]/)
  })

  describe('names what is low', () => {
    /** Windows that the digests name, in the order of their posts. */
    const namedIn = (tops: readonly ShownMessage[]) =>
      tops
        .filter(({ metadata }) => String(metadata?.event_payload.key).startsWith('digest/'))
        .map((one) => [...textOf(one).matchAll(/from (\w+)/g)].map(([, window]) => window).toSorted())

    test('once, also when Slack took a digest without answering and more is due by the next try', async () => {
      const { open, ask, slack, clock, tops, replies, passUntil, store } = await openSlackServer()
      const server = open()
      await server.start()
      await ask('one')
      await ask('two')
      await passUntil(() => replies().length === 2)
      slack.failNext('chat.postMessage', { broken: 'lost_answer' })
      const left = () => store.outbox.deliveries(`${server.channel.name}:digest`)
      await clock.advance(900_000)
      await until(async () => (await left()).every(({ attempts }) => attempts === 1))
      await ask('three')
      await clock.advance(900_000)
      await passUntil(async () => (await left()).length === 0)

      expect(namedIn(tops())).toEqual([['one', 'two'], ['three']])
    })

    test('once, also when the server dies after the post, and comes back when more is due', async () => {
      const { open, ask, clock, tops, replies, passUntil, store, log } = await openSlackServer()
      const first = open()
      await first.start()
      const digest = first.channels.find(({ name }) => name.endsWith(':digest')) ?? expect.fail()
      await ask('one')
      await ask('two')
      const left = async () => (await store.outbox.deliveries(digest.name)).filter(isOfFeed)
      await passUntil(async () => replies().length === 2 && (await left()).length > 1)
      const posted = await left()
      const refs = await digest.deliverTogether?.(posted, new AbortController().signal)
      await first.close()
      expect(namedIn(tops())).toEqual([['one', 'two']])
      // One of them was even written down.
      const [{ n } = expect.fail()] = posted
      const outcome = { type: 'delivered', count: 1, ref: refs?.get(n) ?? null } as const
      await log.commit({ type: 'settle_delivery', channel: digest.name, n, outcome })
      await ask('three')
      await clock.advance(3_600_000)
      const second = open()
      await second.start()
      await passUntil(async () => replies().length === 3 && namedIn(tops()).length > 1 && (await left()).length === 0)

      expect(namedIn(tops())).toEqual([['one', 'two'], ['three']])
    })

    test('once, also when somebody edits it afterwards', async () => {
      const { open, ask, clock, takeStep, tops, passUntil, store } = await openSlackServer()
      const server = open()
      await server.start()
      const { id, sessionId } = await ask('one')
      const isShown = async () => (await store.outbox.deliveries(`${server.channel.name}:digest`)).length === 0
      await clock.advance(900_000)
      await passUntil(async () => namedIn(tops()).length > 0 && (await isShown()))
      await takeStep(sessionId, () => ({ result: null, settle: [{ id, patch: { digest: 'of another text' } }] }))
      await passUntil(async () => !(await isShown()))
      await clock.advance(900_000)
      await passUntil(isShown)

      expect(namedIn(tops())).toEqual([['one']])
    })
  })

  test('calls the whole room only for what is critical and has no answer when the time of the escalation is over', async () => {
    const { open, ask, clock, replies, tops, passUntil } = await openSlackServer()
    const server = open({ escalation: [{ afterMs: 600_000, to: ['night'] }] })
    await server.start()
    await ask('one', { risk: 'critical' })
    await ask('two', { risk: 'high' })
    await passUntil(() => replies().length === 2)
    expect([...tops(), ...replies()].filter((one) => textOf(one).includes('<!channel>'))).toEqual([])
    await clock.advance(600_000)
    await passUntil(() => tops().length === 3 && replies().length === 3)

    expect(tops().map((one) => textOf(one).includes('<!channel> <@U0EVE>'))).toEqual([false, false, true])
    expect(textOf(replies().at(-1) ?? expect.fail())).toContain('<@U0EVE> Nobody has answered')
  })

  test('never has a word of another room', async () => {
    const { open, ask, slack, approvals, delivered } = await openSlackServer()
    slack.addChannel('C0DEV', 'dev')
    const server = open({ rooms: [OPS, 'C0DEV'] })
    await server.start()
    const [ops, dev] = [await ask('one'), await ask('two', { channelId: 'C0DEV' })]
    for (const channel of server.channels.filter(({ say }) => say === undefined)) await delivered(channel, 2)
    await approvals.decide(ann, dev.id, { decision: 'reject' })
    await until(() => slack.messages('C0DEV').some((one) => one.versions.length > 1))

    const words = (room: string) => slack.messages(room).map(textOf).join()
    expect([words(OPS).includes(dev.id), words(OPS).includes(dev.sessionId), words(OPS).includes('two')]).toEqual([
      false,
      false,
      false,
    ])
    expect([
      words('C0DEV').includes(ops.id),
      words('C0DEV').includes(ops.sessionId),
      words('C0DEV').includes('one'),
    ]).toEqual([false, false, false])
    expect([slack.messages(OPS).length, slack.messages('C0DEV').length]).toEqual([3, 3])
    expect(await server.cards.sessionOfThread(OPS, slack.messages('C0DEV')[0]?.ts ?? '')).toBeNull()
  })

  test('calls those whom an escalation names when their time has come, once, and only if it still waits', async () => {
    const { open, ask, slack, approvals, clock, passUntil, replies } = await openSlackServer()
    const escalation = [{ afterMs: 900_000, to: ['night'] }]
    const first = open({ escalation })
    await first.start()
    const [waits, answered] = [await ask('one'), await ask('two')]
    await passUntil(() => replies().length === 2)
    await approvals.decide(ann, answered.id, { decision: 'reject' })
    await first.close()
    const second = open({ escalation })
    await second.start()
    expect(replies().filter((one) => textOf(one).includes('<@U0EVE>'))).toEqual([])
    await clock.advance(900_000)
    await passUntil(() => replies().length === 3)
    await clock.advance(900_000)

    const calls = replies().filter((one) => textOf(one).includes('<@U0EVE>'))
    expect(calls.map(({ threadTs }) => threadTs)).toEqual([replies()[0]?.threadTs])
    expect(await second.cards.sessionOfThread(OPS, calls[0]?.threadTs ?? '')).toBe(waits.sessionId)
    // Two threads with a card each, the call, and the digest.
    await passUntil(() => slack.messages(OPS).length === 6)
  })

  test('gets long diffs as a file in the thread, once', async () => {
    const { open, ask, slack, delivered, store } = await openSlackServer()
    const diff = Array.from({ length: 100 }, (_, i) => `line ${i}`).join('\n')
    const first = open()
    await first.start()
    const asked = await ask('one', { diff })
    await delivered(first.channel, 3)
    expect(slack.files.size).toBe(1)
    await first.close()
    // As if the server had died before it wrote down that the file is there.
    const notes = await store.outbox.notes(first.channel.name)
    const note = notes.find(({ key }) => key.startsWith('file/')) ?? expect.fail('there is no note')
    expect(note.value).toBe('there')
    await store.commit([{ type: 'note_for_channel', ...note, value: 'begun' }])
    const second = open()
    await second.start()
    await second.cards.attach(asked.id, [
      { name: note.key.split('/').slice(2).join('/'), content: diff, snippetType: 'diff' },
    ])

    expect(slack.files.size).toBe(1)
    expect([...slack.files.values()][0]?.content.toString()).toContain('+line 99')
  })

  test('shows what goes on with a record, and forgets it when somebody says so', async () => {
    const { open, ask, replies, delivered } = await openSlackServer()
    const server = open()
    await server.start()
    const asked = await ask()
    await delivered(server.channel, 2)
    await server.cards.refresh(asked.id, { type: 'working', by: 'ann', action: 'approve' })
    expect(textOf(replies()[0] ?? expect.fail())).toContain('working on it')
    expect(buttonsOf(replies()[0] ?? expect.fail())).toEqual([])
    await server.cards.refresh(asked.id)
    expect(buttonsOf(replies()[0] ?? expect.fail()).length).toBe(4)
    await server.cards.refresh('no such record')
  })

  test('is brought up to date after a crash that left an old state on a card', async () => {
    const { open, ask, replies, delivered } = await openSlackServer()
    const first = open()
    await first.start()
    const asked = await ask()
    await delivered(first.channel, 2)
    await first.cards.refresh(asked.id, { type: 'working', by: 'ann', action: 'approve' })
    await first.close()
    const second = open()
    await second.start()

    await until(() => buttonsOf(replies()[0] ?? expect.fail()).length === 4)
    expect(replies().length).toBe(1)
  })

  test('tells how a session is, and in detail if it is asked to', async () => {
    const { open, ask, tops, replies, delivered, sessions, feed } = await openSlackServer()
    const server = open({ detail: 'verbose' })
    await server.start()
    const asked = await ask()
    await delivered(server.channel, 2)
    expect(textOf(tops()[0] ?? expect.fail())).toContain('active')
    await sessions.pause(ann, asked.sessionId)
    await until(() => textOf(tops()[0] ?? expect.fail()).includes('paused'))
    await until(() => replies().some((one) => textOf(one).includes('The session is paused.')))
    expect(tops().length).toBe(1)
    expect(await feed.head()).toBeGreaterThan(2)
  })

  test('shows a summary once, also when the server died right after it', async () => {
    const { open, slack } = await openSlackServer()
    const [first, second] = [open(), open()]
    const delivery = { channel: first.channel.name, n: 7, item: null, count: 44, attempts: 0, nextTryAt: 0 }
    const signal = new AbortController().signal
    await first.channel.deliver(delivery, signal)
    await second.channel.deliver(delivery, signal)

    expect(slack.messages(OPS).map(({ text }) => text)).toEqual(['44 more items wait for a person.'])
  })
})

describe('never lost and never twice', () => {
  test('Slack is down while the server restarts: everything that waits appears once', async () => {
    const { open, ask, slack, approvals, clock, replies, tops, passUntil, store } = await openSlackServer()
    const first = open()
    await first.start()
    await slack.goDown()
    const waiting = [await ask('one'), await ask('two'), await ask('three')]
    await until(async () => (await store.outbox.deliveries(first.channel.name)).some(({ attempts }) => attempts > 0))
    await clock.advance(60_000)
    await first.close()
    const second = open()
    second.deliver()
    void second.serve()
    await clock.advance(20 * 60_000)
    await approvals.decide(ann, waiting[1]?.id ?? '', { decision: 'reject' })
    await slack.comeUp()

    await passUntil(async () => (await store.outbox.deliveries(second.channel.name)).length === 0)
    // And the digest.
    await passUntil(() => tops().length === 3)
    expect(replies().length).toBe(2)
    expect(second.channel.trouble?.()).toBeNull()
  })

  test('a message that Slack took without answering is found again', async () => {
    const { open, ask, slack, replies, tops, passUntil, store } = await openSlackServer()
    const server = open()
    await server.start()
    // The root, and then the card.
    slack.failNext('chat.postMessage', { broken: 'lost_answer' })
    await ask('one')
    await until(async () => (await store.outbox.deliveries(server.channel.name))[0]?.attempts === 1)
    slack.failNext('chat.postMessage', { broken: 'lost_answer' })
    await passUntil(async () => (await store.outbox.deliveries(server.channel.name)).length === 0)

    expect([tops().length, replies().length]).toEqual([1, 1])
    expect(slack.calls('chat.postMessage')).toBe(2)
  })

  test('a crash between the post and the note of it posts nothing again', async () => {
    const { open, ask, feed, log, replies, tops, delivered, store } = await openSlackServer()
    const first = open()
    await ask('one')
    const items = await feed.items(0, 10)
    const item = items.find(({ kind }) => kind === 'wait') ?? expect.fail()
    const { name } = first.channel
    const taken = {
      type: 'take_deliveries',
      channel: name,
      after: null,
      upTo: item.n,
      items: [item],
      skipped: 0,
    } as const
    await log.commit(taken)
    const [delivery] = (await store.outbox.deliveries(name)).filter(isOfFeed)
    await first.channel.deliver(delivery ?? expect.fail(), new AbortController().signal)
    await first.close()
    const second = open()
    await second.start()
    await delivered(second.channel, 2)

    expect([tops().length, replies().length]).toEqual([1, 1])
    expect(await store.waits.get(item.id)).toMatchObject({ messageRefs: { [name]: replies()[0]?.ts } })
  })

  test('429: it waits as long as Slack asks, and a storm loses nothing', async () => {
    const { open, ask, slack, replies, tops, passUntil, store, clock } = await openSlackServer()
    slack.limitRate()
    const server = open()
    await server.start()
    slack.storm(20)
    for (let i = 0; i < 8; i += 1) await ask(`window ${i}`)
    const tried = async () =>
      (await store.outbox.deliveries(server.channel.name)).filter(({ attempts }) => attempts > 0)
    await until(async () => (await tried()).length > 0)
    const nextTries = (await tried()).map(({ nextTryAt }) => nextTryAt - clock.now())
    expect(Math.min(...nextTries)).toBeGreaterThan(15_000)
    await passUntil(async () => (await store.outbox.deliveries(server.channel.name)).length === 0)

    expect([tops().length, replies().length]).toEqual([8, 8])
    expect(slack.requests.filter(({ error }) => error === 'ratelimited').length).toBeLessThan(12)
  })

  test('deleted messages: a card stays away, and a thread without its first message begins anew', async () => {
    const { open, ask, slack, approvals, replies, tops, delivered, store } = await openSlackServer()
    const server = open()
    await server.start()
    const asked = await ask('one')
    await delivered(server.channel, 2)
    for (const { ts } of slack.messages(OPS)) slack.remove(OPS, ts)
    await approvals.decide(ann, asked.id, { decision: 'reject' })
    await delivered(server.channel, 0)
    expect(slack.messages(OPS)).toEqual([])
    await ask('one', { diff: 'Hello again\n' })
    await delivered(server.channel, 2)

    expect([tops().length, replies().length]).toEqual([1, 1])
    expect((await store.outbox.note(server.channel.name, `session/${asked.sessionId}`))?.value).toBe(tops()[0]?.ts)
  })
})

describe('several servers on one store', () => {
  /** Each may post. Time passes at its own pace, because requests need real time. */
  async function openServers(...owners: string[]) {
    const lookup = await openSlackServer()
    const { clock, open, log } = lookup
    const shared = createLocalShared(clock)
    const changes = { tell: async () => {}, watch: () => () => {} }
    const dead = new Set<string>()
    const over = Promise.withResolvers<never>()
    over.promise.catch(() => {})
    const asLongAsItLives = <T>(owner: string, work: () => Promise<T>): Promise<T> =>
      dead.has(owner) ? over.promise : work()
    const servers = owners.map((owner) => {
      const server = open({ alone: createAlone({ shared, owner, clock }) })
      const held: Shared = { ...shared, hold: (...how) => asLongAsItLives(owner, () => shared.hold(...how)) }
      const jobs = createJobs({ shared: held, owner, clock, logger: silentLogger })
      /** It dies when it has shown something, before it writes that down. */
      const dying: Pick<SessionLog, 'commit'> = {
        commit(command) {
          if (command.type === 'settle_delivery' && command.outcome.type === 'delivered') dead.add(owner)
          return asLongAsItLives(owner, () => log.commit(command))
        },
      }
      return {
        ...server,
        deliver: ({ dies = false } = {}) => server.deliver({ jobs, changes, ...(dies ? { log: dying } : {}) }),
      }
    })
    const [a, b] = servers
    if (a === undefined || b === undefined) expect.fail()
    // Before the servers are closed.
    onTestFinished(() => over.reject(new Error('the test is over')))
    const pass = <T>(look: () => T | Promise<T>) =>
      until(async () => {
        await clock.advance(10)
        return await look()
      })
    return { ...lookup, a, b, dead, pass }
  }

  test('that report about one session at the same time begin one thread', async () => {
    const { a, b, ask, sessionOf, tops, replies, pass } = await openServers('A', 'B')
    const session = await sessionOf(await ask('one'))
    a.chat.tell(session, 'Said by A.')
    b.chat.tell(session, 'Said by B.')
    await pass(() => replies().length === 2)

    expect(tops().length).toBe(1)
    expect(new Set(replies().map(({ threadTs }) => threadTs))).toEqual(new Set([tops()[0]?.ts]))
  })

  test('begin one new thread where the first message was deleted', async () => {
    const { a, b, ask, sessionOf, slack, tops, replies, pass } = await openServers('A', 'B')
    const session = await sessionOf(await ask('one'))
    a.chat.tell(session, 'Said by A.')
    b.chat.tell(session, 'Said by B.')
    await pass(() => replies().length === 2)
    for (const { ts } of slack.messages(OPS)) slack.remove(OPS, ts)

    a.chat.tell(session, 'Said again by A.')
    await pass(() => replies().length === 1)
    b.chat.tell(session, 'Said again by B.')
    await pass(() => replies().length === 2)

    expect(tops().length).toBe(1)
  })

  test('show a card once, also if the one that posted it died before it wrote that down', async () => {
    const { a, b, ask, dead, store, tops, replies, passUntil } = await openServers('A', 'B')
    a.deliver({ dies: true })
    await passUntil(async () => (await store.outbox.cursor(a.channel.name)) !== null)
    b.deliver()
    const asked = await ask('one')
    await until(() => dead.has('A'))
    expect(await store.waits.get(asked.id)).toMatchObject({ messageRefs: {} })
    await passUntil(async () => (await store.outbox.deliveries(b.channel.name)).length === 0)

    expect([tops().length, replies().length]).toEqual([1, 1])
    expect(await store.waits.get(asked.id)).toMatchObject({ messageRefs: { [b.channel.name]: replies()[0]?.ts } })
  })

  test('bring a thread up to date that another one has begun', async () => {
    const { a, b, ask, sessions, delivered, tops, replies, passUntil } = await openServers('A', 'B')
    a.deliver()
    const asked = await ask('one')
    await delivered(a.channel, 2)
    b.deliver()
    await a.close()
    await sessions.pause(ann, asked.sessionId)
    await passUntil(() => textOf(tops()[0] ?? expect.fail()).includes('paused'))

    expect([tops().length, replies().length]).toEqual([1, 1])
  })
})

describe('trouble', () => {
  const cases = [
    {
      name: 'the room is archived',
      breaks: (slack: Slack) => slack.archive(OPS),
      mends: (slack: Slack) => slack.archive(OPS, false),
      says: 'The Slack channel C0OPS is archived. Unarchive it',
    },
    {
      name: 'the bot was removed from the room',
      breaks: (slack: Slack) => slack.leave(OPS),
      mends: (slack: Slack) => slack.join(OPS),
      says: 'write “/invite @quarterdeck” there',
    },
    {
      name: 'the bot token was revoked',
      breaks: (slack: Slack) => slack.revokeToken('bot'),
      mends: (slack: Slack) => slack.revokeToken('bot', 'valid'),
      says: 'quarterdeck ctl credential set slack_bot_token',
    },
    {
      name: 'a scope is missing',
      breaks: (slack: Slack) => slack.setScopes(['channels:read', 'channels:history']),
      mends: (slack: Slack) =>
        slack.setScopes(['channels:read', 'channels:history', 'chat:write', 'commands', 'files:read', 'files:write']),
      says: 'lacks the scope chat:write',
    },
    {
      name: 'the app token was revoked',
      breaks: (slack: Slack) => slack.revokeToken('app'),
      mends: (slack: Slack) => slack.revokeToken('app', 'valid'),
      says: 'quarterdeck ctl credential set slack_app_token',
    },
  ]
  type Slack = Awaited<ReturnType<typeof openSlackServer>>['slack']

  test.each(cases)('$name: it says how to mend it, and goes on once it is mended', async ({ breaks, mends, says }) => {
    const { open, ask, slack, replies, passUntil, lines, clock } = await openSlackServer()
    const server = open()
    await server.start()
    expect(server.channel.trouble?.()).toBeNull()
    breaks(slack)
    await ask('one')
    const trouble = await passUntil(() => server.channel.trouble?.())
    expect(trouble).toContain(says)
    const at = clock.now()
    await passUntil(() => clock.now() - at > 45_000)
    const told = lines.filter(({ level, fields }) => level === 'error' && fields.trouble === trouble)
    expect(told.length).toBe(1)
    mends(slack)

    await passUntil(() => server.channel.trouble?.() === null)
    await passUntil(() => replies().length === 1)
    expect(lines.filter(({ fields }) => fields.was === trouble).length).toBe(1)
  })

  test('is noticed at the start, before anybody is asked anything, and its end too', async () => {
    const { open, slack, passUntil } = await openSlackServer()
    slack.archive(OPS)
    const server = open()
    await server.start()
    await passUntil(() => server.channel.trouble?.())
    slack.archive(OPS, false)
    await passUntil(() => server.channel.trouble?.() === null)
    expect(slack.calls('chat.postMessage')).toBe(0)
  })

  test('while it lasts, people are still known: an answer is not lost because Slack does not say who we are', async () => {
    const { open, slack, passUntil, clock } = await openSlackServer()
    const server = open()
    await server.start()
    expect(await server.teamId()).toBe('T0ACME')
    slack.archive(OPS)
    slack.failNext('auth.test', 'ratelimited', 1_000)
    await server.channel
      .deliver(
        { channel: server.channel.name, n: 1, item: null, count: 1, attempts: 0, nextTryAt: 0 },
        new AbortController().signal,
      )
      .catch(() => {})
    await passUntil(() => server.channel.trouble?.())
    const before = slack.calls('auth.test')
    await passUntil(() => slack.calls('auth.test') > before)
    await clock.advance(1)

    expect(await server.teamId()).toBe('T0ACME')
  })

  test('a token for another workspace posts nothing', async () => {
    const { open, ask, slack, store, passUntil } = await openSlackServer()
    const server = open({ teamId: 'T0OTHER' })
    await server.start()
    await ask('one')
    const trouble = await passUntil(() => server.channel.trouble?.())
    await until(async () => (await store.outbox.deliveries(server.channel.name)).some(({ attempts }) => attempts > 0))

    expect(trouble).toContain('T0ACME, but slack_team_id says T0OTHER')
    expect(slack.calls('chat.postMessage')).toBe(0)
  })

  test('no connection is trouble after half a minute, not before', async () => {
    const { open, slack, clock, passUntil } = await openSlackServer()
    const server = open()
    await server.start()
    await slack.goDown()
    await until(() => slack.socketCount === 0)
    await until(() => clock.pending > 2)
    await clock.advance(20_000)
    expect(server.channel.trouble?.()).toBeNull()
    const trouble = await passUntil(() => server.channel.trouble?.())
    expect(trouble).toContain('There is no connection to Slack since 2026-11-15')
  })
})

describe('what agents say without asking', () => {
  test('goes to the thread of their session, with its level', async () => {
    const { open, ask, replies, tops, delivered, sessionOf, passUntil } = await openSlackServer()
    const server = open()
    await server.start()
    const [one, two] = [await ask('one'), await ask('two')]
    await delivered(server.channel, 4)
    const session = await sessionOf(one)
    const otherThread = tops()[1]?.ts ?? expect.fail()
    const ownThread = tops()[0]?.ts ?? expect.fail()
    const said = { level: 'warning', message: '<!channel> hey', thread: ownThread } as const
    for (const thread of [otherThread, '1700000000.000100']) {
      await expect(server.messenger.postLog(session, { ...said, thread })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining(`thread_ts "${thread}" is not a thread of your session.`),
      })
    }
    expect(await server.messenger.postLog(session, said)).toEqual({ posted: true })
    const line = await passUntil(() => replies().find((message) => textOf(message).includes('hey')))

    expect(await server.cards.sessionOfThread(OPS, line.threadTs ?? '')).toBe(one.sessionId)
    expect(await server.cards.sessionOfThread(OPS, otherThread)).toBe(two.sessionId)
    expect(textOf(line)).toContain('Warning')
    expect(await server.teamId()).toBe('T0ACME')
    expect(await server.viewOf(two)).toMatchObject({ session: { id: two.sessionId }, id: two.id })
    server.messenger.tell(session, 'The mode is remote now.')
    await passUntil(() => replies().some((message) => textOf(message).includes('The mode is remote now.')))
  })

  test('a notice at the very end still gets there', async () => {
    const { open, ask, replies, delivered, sessionOf } = await openSlackServer()
    const server = open()
    await server.start()
    const session = await sessionOf(await ask('one'))
    await delivered(server.channel, 2)
    server.chat.tell(session, 'The server stops.')
    await server.close()

    expect(textOf(replies().at(-1) ?? expect.fail())).toContain('The server stops.')
  })

  test('is never waited for, and gets there in its order, once, over outages and restarts', async () => {
    const { open, ask, slack, replies, delivered, sessionOf, passUntil } = await openSlackServer()
    const first = open()
    await first.start()
    const session = await sessionOf(await ask('one'))
    await delivered(first.channel, 2)
    const say = (server: typeof first, message: string) =>
      server.messenger.postLog(session, { level: 'info', message, thread: null })
    const lines = () => replies().flatMap(({ text }) => /^line (.+)$/m.exec(text)?.[1] ?? [])
    slack.storm(30)
    // No time passes on the clock, so nothing of this waits for Slack.
    for (let i = 1; i <= 10; i += 1) expect(await say(first, `line ${i}`)).toEqual({ posted: true })
    first.messenger.tell(session, 'line of the server')
    await until(async () => (await first.waitingLines()).length === 11)
    expect(lines()).toEqual([])
    await first.close()
    slack.storm(0)
    // Slack takes the first one, and nobody hears of it.
    slack.failNext('chat.postMessage', { broken: 'no_answer' })
    const second = open()
    await second.start()
    await say(second, 'line 11')
    await passUntil(() => lines().length === 12)
    await second.close()
    const third = open()
    await third.start()
    await say(third, 'line 12')
    await passUntil(async () => (await third.waitingLines()).length === 0)

    const numbers = Array.from({ length: 12 }, (_, i) => `${i + 1}`)
    expect(lines()).toEqual([...numbers.slice(0, 10), 'of the server', ...numbers.slice(10)])
  })

  test('of a schedule is in the thread of its session, or at the top of the room if it has none, once', async () => {
    const { open, ask, slack, tops, replies, delivered, sessionOf, passUntil, clock } = await openSlackServer()
    const first = open()
    await first.start()
    const session = await sessionOf(await ask('one'))
    await delivered(first.channel, 2)
    const line = { kind: 'line', at: clock.now(), sessionId: null, by: 'server', thread: null } as const
    const failed = { ...line, id: newId(), level: 'error', text: 'daily was not started. It is closed.' } as const
    const ended = { ...line, id: newId(), level: 'success', text: 'daily: All is well.', by: 'agent' } as const
    const failures = () => tops().filter((one) => textOf(one).includes('daily was not started'))
    // Slack takes it, and nobody hears of it before the server dies.
    slack.failNext('chat.postMessage', { broken: 'no_answer' })
    await first.tellRoom(failed)
    await passUntil(async () => failures().length === 1)
    await first.close()
    const second = open()
    await second.start()
    await second.tellRoom({ ...ended, sessionId: session.id })
    await passUntil(async () => (await second.waitingLines()).length === 0)

    expect(failures().length).toBe(1)
    expect(replies().filter((one) => textOf(one).includes('daily: All is well.')).length).toBe(1)
  })

  test('is refused with a reason where there is no room, and where too much waits', async () => {
    const { open, ask, sessionOf } = await openSlackServer()
    const server = open({ rooms: [OPS] })
    const session = await sessionOf(await ask('one'))
    const other = await sessionOf(await ask('two'))
    const say = (one = session) => server.messenger.postLog(one, { level: 'info', message: 'Hello', thread: null })
    for (let i = 0; i < 64; i += 1) await say()

    expect(await say()).toEqual({ posted: false, reason: expect.stringContaining('64 lines of this session wait') })
    expect(await say(other)).toEqual({ posted: true })
    const elsewhere = { ...session, supervision: { ...session.supervision, channelId: 'C0NONE' } }
    expect(await say(elsewhere)).toEqual({ posted: false, reason: expect.stringContaining('no Slack channel') })
  })

  test('recent messages are those of operators in that room alone, as people see them', async () => {
    const { open, slack } = await openSlackServer()
    slack.addChannel('C0DEV', 'dev')
    const server = open({ rooms: [OPS, 'C0DEV'] })
    await server.start()
    await slack.reply({ user: ANA, channel: OPS, thread: null, text: 'a < b & see https://example.com/x' })
    await slack.reply({ user: 'U0BEN', channel: OPS, thread: null, text: 'not an operator' })
    await slack.reply({ user: ANA, channel: 'C0DEV', thread: null, text: 'elsewhere' })
    await slack.reply({ user: ANA, channel: OPS, thread: null, text: 'second' })

    const first = { user: 'ann', text: 'a < b & see https://example.com/x', ts: expect.any(String) }
    const second = { user: 'ann', text: 'second', ts: expect.any(String) }
    expect(await server.chat.recent(OPS, 20)).toEqual({ messages: [first, second], has_more: false })
    expect(await server.chat.recent(OPS, 1)).toEqual({ messages: [second], has_more: true })
    expect(await server.chat.recent('C0NONE', 20)).toBeNull()
    slack.revokeToken('bot')
    await expect(server.chat.recent(OPS, 20)).rejects.toMatchObject({ code: 'operator_unreachable' })
  })
})
