// What waits in the morning: 40 items of five agents.

import { until } from '../../crash/support/until.ts'
import type { ConsoleHouse } from './console-house.ts'

const times = async (count: number, what: (i: number) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < count; i += 1) await what(i)
}

/** 14 that are alike in two groups, 6 low, 10 high, 4 critical, and 6 that want words. */
export async function fillInbox(house: ConsoleHouse): Promise<void> {
  const ask = (host: string, folder: string, files: Record<string, string> = { 'README.md': '# Here\n' }) => {
    const place = house.folder(folder, files)
    return (window: string, tool: string, input: object) =>
      void house
        .agent(
          `${folder}-${window}`,
          place,
          host,
        )(tool, input)
        .catch(() => {})
  }
  const bash = (command: string) => ({ tool_name: 'Bash', input: { command }, tool_use_id: command })
  const shop = ask('claude-code', 'shop')
  const tides = ask('codex', 'tides')
  const harbour = ask('gemini-cli', 'harbour')
  const log = ask('copilot', 'log')
  for (let i = 1; i <= 7; i += 1) shop('tests', 'approve_tool', bash(`npm test -- part-${i}`))
  for (let i = 1; i <= 7; i += 1) tides('build', 'approve_tool', bash(`npm run build -- port-${i}`))
  for (let i = 1; i <= 6; i += 1) harbour(`push-${i}`, 'approve_tool', bash(`git push origin berth-${i}`))
  for (let i = 1; i <= 2; i += 1) harbour(`force-${i}`, 'approve_tool', bash(`git push --force origin berth-${i}`))
  for (let i = 1; i <= 3; i += 1) log(`asks-${i}`, 'forward_prompt', { prompt_text: `Page ${i} is done. Go on?` })
  for (let i = 1; i <= 2; i += 1) log(`waits-${i}`, 'wait_for_instruction', { message: `Log ${i} is written.` })
  log('silent', 'heartbeat', { status_message: 'Thinking' })
  await times(6, () => house.say('note'))
  await times(4, () => house.say('wipe'))
  await times(2, () => house.say('pay'))
  await until('40 items', async () => (await house.client.inbox()).total === 40, 120_000)
  // Who was answered is silent, and that is no news here.
  const { items } = await house.client.inbox({ limit: 100 })
  const elsewhere = items.filter(({ kind, host }) => kind !== 'alert' && host !== null)
  for (const id of new Set(elsewhere.map(({ session_id }) => session_id))) await house.client.sessions.stalls(id, false)
}
