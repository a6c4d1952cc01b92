// Puts something of every kind into a server, so that every page has something to show.

import { until } from '../../crash/support/until.ts'
import type { ConsoleHouse } from './console-house.ts'

/** What can be opened by its address. */
export interface Filled {
  /** A conversation that has an answer and a failure. */
  chat: string
  /** A conversation with versions of a message and of an answer, with formulas and a judged answer. */
  parted: string
  /** A conversation that waits for an approval. */
  asking: string
  supervised: string
  approval: { low: string; high: string; critical: string }
  question: string
  diff: string
  permission: string
  prompt: string
  wait: string
  /** Null: the server was not told to watch for silence. */
  alert: string | null
}

const PATIENT_MS = 120_000

/** `hasAlerts`: the house has a limit of silence. */
export async function fillHouse(house: ConsoleHouse, { hasAlerts = false } = {}): Promise<Filled> {
  const { client } = house
  const chat = await house.say('hello')
  await house.say('fail', chat)
  const parted = await part(house)
  const [accepted, refused] = [await house.say('note'), await house.say('wipe')]
  await until('two questions', async () => (await client.approvals({ status: 'pending' })).length === 2, PATIENT_MS)
  for (const one of await client.approvals({ status: 'pending' })) {
    if (one.session_id === accepted) await client.approve(one)
    if (one.session_id === refused) await client.reject(one, { reason: 'Not that folder.' })
  }

  const asking = await house.say('wipe')
  for (const words of ['note', 'pay', 'ask']) await house.say(words)
  const shop = house.folder('shop', { 'src/tides.ts': tides(40), 'README.md': '# Shop\n' })
  const later = (name: string, tool: string, input: object) =>
    void house
      .agent(name, shop)(tool, input)
      .catch(() => {})
  const busy = house.agent('window-1', shop)
  await busy('heartbeat', {
    status_message: 'Numbering the tides',
    progress_snapshot: [
      { label: 'Read the tables', status: 'done' },
      { label: 'Write the code', status: 'in_progress' },
    ],
  })
  await busy('remote_log', { level: 'info', message: 'The tables of 2026 are complete.' })
  later('window-1', 'ask_approval', {
    ...{ title: 'Round the hours', description: 'Hours have two digits now.', file_path: 'src/tides.ts' },
    ...{ diff: tides(40).replaceAll('hour: 1', 'hour: 01'), risk_level: 'high' },
  })
  later('window-2', 'approve_tool', {
    ...{ tool_name: 'Bash', input: { command: 'npm test -- --run' }, tool_use_id: 'toolu_1' },
  })
  later('window-3', 'forward_prompt', { prompt_text: 'The tests pass. Shall I go on with the docs?' })
  later('window-4', 'wait_for_instruction', { message: 'All is done. What next?' })
  if (hasAlerts) await house.agent('window-5', shop)('heartbeat', { status_message: 'Thinking' })
  const expected = hasAlerts ? 9 : 8
  await until('everything waits', async () => (await client.inbox()).items.length >= expected, PATIENT_MS)

  const approvals = await client.approvals({ status: 'pending' })
  const first = <T>(list: readonly T[], isIt: (one: T) => boolean): T => {
    const found = list.find(isIt)
    if (found === undefined) throw new Error(`not there: ${isIt}`)
    return found
  }
  const idOf = (isIt: (one: (typeof approvals)[number]) => boolean) => first(approvals, isIt).approval_id
  const { items } = await client.inbox()
  const recordOf = (kind: string) => items.find((item) => item.kind === kind)?.id ?? null
  const diff = first(approvals, ({ kind }) => kind === 'diff')
  return {
    ...{ chat, parted, asking, supervised: diff.session_id, diff: diff.approval_id },
    approval: {
      low: idOf(({ tool }) => tool === 'note'),
      high: idOf(({ tool }) => tool === 'wipe'),
      critical: idOf(({ tool }) => tool === 'pay'),
    },
    question: idOf(({ kind }) => kind === 'question'),
    permission: idOf(({ kind }) => kind === 'permission'),
    prompt: recordOf('prompt') ?? '',
    wait: recordOf('wait') ?? '',
    alert: recordOf('alert'),
  }
}

export const tides = (lines: number): string =>
  `${Array.from({ length: lines }, (_, i) => `export const tide${i} = { hour: ${i % 24}, port: 'Emden' }`).join('\n')}\n`

/** Each step waits for the one before it: a branch leaves what is there. */
async function part({ client }: ConsoleHouse): Promise<string> {
  const session = crypto.randomUUID()
  const ended = async ({ run_id }: { run_id: string }) => {
    await until('a run ends', async () => (await client.run(run_id)).finished_at !== null, PATIENT_MS)
  }
  const first = await client.send(session, 'formula')
  await ended(first)
  await ended(await client.again(session, first.message_id))
  const second = await client.send(session, 'What now?')
  await ended(second)
  await ended(await client.send(session, 'fail', { replaces: second.message_id }))
  const { events } = await client.sessions.log(session)
  const judged = events.flatMap(({ event }) => (event.type === 'TEXT_MESSAGE_START' ? [event.messageId] : []))[1]
  if (judged !== undefined) await client.sessions.rate(judged, { value: 'down', note: 'The date is wrong.' })
  return session
}
