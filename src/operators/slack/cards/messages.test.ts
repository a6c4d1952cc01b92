import { expect, test } from 'vitest'
import { sessionRoot } from '../session-threads.ts'
import { confirmMessage, editedMessage, escalationMessage, logLine, notice, summaryMessage } from './messages.ts'
import { buttonsOf, linesOf } from './testing/read-message.ts'
import {
  about,
  alert,
  diffApproval,
  look,
  permission,
  policy,
  SMALL_DIFF,
  session,
  toolCall,
} from './testing/sample-records.ts'

const URL = 'http://127.0.0.1:8000/console'

test('the root of a thread shows host, workspace, owner, status and checklist', () => {
  const progress = [
    { label: 'Read', status: 'done' as const },
    { label: 'Write', status: 'pending' as const },
  ]
  const { text, blocks } = sessionRoot(
    { ...session, title: 'Bugs', prompt: 'Fix all bugs', status: 'paused', progress },
    { detail: 'standard', link: URL },
  )

  expect(text).toBe('claude-code in shop is paused.')
  expect(linesOf({ blocks })).toEqual([
    ':double_vertical_bar: claude-code in shop is paused',
    'Owner ada · session session-1',
    '> Bugs',
    'It was started with:',
    '> Fix all bugs',
    'Its own list of steps: 1 of 2',
    ':white_check_mark: Read',
    ':white_large_square: Write',
    `[Open in the console](${URL})`,
  ])
  const long = Array.from({ length: 100 }, (_, i) => ({ label: `Step ${i}`, status: 'pending' as const }))
  expect(linesOf(sessionRoot({ ...session, progress: long }, { detail: 'standard', link: null })).at(-1)).toBe(
    '… 80 more',
  )
  const short = sessionRoot({ ...session, folder: null, prompt: 'x' }, { detail: 'minimal', link: null })
  expect(linesOf(short)).toEqual([':large_green_circle: claude-code is active', 'Owner ada · session session-1'])
})

test('a summary counts, and says where to look', () => {
  expect(linesOf(summaryMessage(1_200, URL))).toEqual([
    `:inbox_tray: 1,200 more items wait for a person. [Open the console](${URL})`,
  ])
  expect(linesOf(summaryMessage(1, null))).toEqual([
    ':inbox_tray: 1 more item waits for a person. Look with: quarterdeck ctl list',
  ])
})

test('a line of a log has its level as a sign and as a word', () => {
  const line = (level: 'info' | 'success' | 'warning' | 'error') => linesOf(logLine(session, level, 'tests pass', 'k'))
  expect([line('info'), line('success'), line('warning'), line('error')]).toEqual([
    [':information_source: Info from claude-code: tests pass'],
    [':white_check_mark: Success from claude-code: tests pass'],
    [':warning: Warning from claude-code: tests pass'],
    [':x: Error from claude-code: tests pass'],
  ])
  const long = logLine(session, 'info', 'x'.repeat(4_000), 'log/1')
  expect(linesOf(long).at(-1)).toBe('All of it is in the thread.')
  expect(linesOf(logLine(session, 'info', 'done\n✅ Approved by ada', 'k'))).toEqual([
    ':information_source: Info from claude-code',
    '> done',
    '> ✅ Approved by ada',
  ])
  expect(logLine(session, 'info', 'All *green*.\n:tada: <!channel>', 'k').text).toBe(
    'Info from claude-code in shop:\nAll ∗green∗.\n∶tada∶ &lt;!channel&gt;',
  )
  expect(long.files).toEqual([{ name: 'log-log_1.txt', content: 'x'.repeat(4_000), snippetType: 'text' }])
})

test('a notice and a summary of the policy show their text as it is', () => {
  expect(linesOf(notice('The mode is now *local* :tada:'))).toEqual([':bell: The mode is now *local* :tada:'])
  expect(notice('<!channel> :tada:').text).toBe('&lt;!channel&gt; ∶tada∶')
  expect(notice('It stops.\nIt comes back.').text).toBe('It stops.\nIt comes back.')
  expect(linesOf(notice(''))).toEqual([':bell: Notice'])
})

test('an escalation mentions the channel', () => {
  expect(linesOf(escalationMessage(about({ ...alert, status: 'escalated' }), 900, URL))).toEqual([
    '<!channel> An agent needs somebody to look.',
    ':rotating_light: claude-code in shop is still silent after all nudges, now for 15 min.',
    `[Open in the console](${URL})`,
  ])
})

test('the second look before a yes names the risk and asks yes or no', () => {
  const message = confirmMessage(about(diffApproval, SMALL_DIFF), look)

  expect(message.text).toMatch(
    /^Approve it\?\nclaude-code in shop asks to change a file\.\nChange src\/sum\.ts \+1 −1\.\nIn the agent’s words: .+\nRisk high\.$/,
  )
  expect(linesOf(message)).toEqual([
    ':large_orange_circle: Risk high · Approve it? For claude-code.',
    'Change src/sum.ts +1 −1',
    'Say yes only if you have read all of it, in the card and in its thread.',
    '[Yes, approve] [No]',
  ])
  expect(buttonsOf(message).map(({ action_id, value }) => [action_id, value])).toEqual([
    ['quarterdeck:confirm:approve', 'r1.confirm:approve.mac'],
    ['quarterdeck:cancel', 'r1.cancel.mac'],
  ])
  expect(linesOf(confirmMessage(about(permission), look))).toEqual(
    expect.arrayContaining(['Run npm test', '| npm test', '[Yes, approve] [No]']),
  )
  const push = { ...permission, action: 'Push to origin/Main' }
  expect(linesOf(confirmMessage(about(push), look))).toContain('[Yes, push to origin/Main] [No]')
  const edited = { ...permission, editedArguments: '{"command":"npm publish"}' }
  expect(linesOf(confirmMessage(about(edited), look))).toEqual(
    expect.arrayContaining(['The edited arguments, which run:', '| command: npm publish']),
  )
  // A tool that does not say what it would do is known by its arguments.
  const silent = { ...toolCall, action: null }
  expect(linesOf(confirmMessage(about(silent), look))).toEqual(
    expect.arrayContaining(['send_email', 'Arguments of send_email:', '| to: bob@example.com']),
  )
  expect(linesOf(confirmMessage(about(policy), look))).toContain('Accept the policy .quarterdeck/policy.json')
})

test('an edited change is shown again before its yes, also where cards are minimal', () => {
  const lines = linesOf(editedMessage(about(diffApproval, SMALL_DIFF), { ...look, detail: 'minimal' }, 'ben'))

  expect(lines[0]).toBe(':pencil2: ben edited it. Nothing is decided yet: look at the new version, then answer.')
  expect(lines).toEqual(expect.arrayContaining(['| +const b = 2', '[Approve] [Reject]']))
  expect(lines.join()).not.toContain('please answer')
})
