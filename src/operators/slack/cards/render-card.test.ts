import { describe, expect, test } from 'vitest'
import type { Approval, PersonRecord } from '../../../domain/records/record.ts'
import { shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import type { RecordView } from '../../../supervision/records/record-view.ts'
import type { CardLook } from './card.ts'
import { renderCard } from './render-card.ts'
import { buttonsOf, linesOf } from './testing/read-message.ts'
import {
  about,
  alert,
  diffApproval,
  look,
  permission,
  policy,
  prompt,
  question,
  SMALL_DIFF,
  standby,
  TEN,
  toolCall,
} from './testing/sample-records.ts'

const card = (view: RecordView, values: Partial<CardLook> = {}) => renderCard(view, { ...look, ...values })
const HEAD = '<@U012AB3CD>, please answer.'
const ASKED = 'Owner ada · since 2026-11-16 10:00 UTC · expires 2026-11-16 11:00 UTC'
const CONSOLE = '[Open in the console](http://127.0.0.1:8000/console/inbox/r1)'
const by = (values: object) => ({ decidedBy: 'ben', decidedAt: TEN + 60_000, decidedVia: 'slack', ...values })
const BY_BEN = 'by ben · 2026-11-16 10:01 UTC · in Slack'
const changed = (values: object, wait: Approval = diffApproval): Approval => {
  const { supervised } = wait
  if (supervised === undefined || supervised.change === null) throw new Error('It changes no file.')
  return { ...wait, supervised: { ...supervised, change: { ...supervised.change, ...values } } }
}

describe('an open card', () => {
  test.each(['minimal', 'standard', 'verbose'] as const)('warns of what a person would overlook: %s', (detail) => {
    const args = { url: 'https://p\u0430y.example', note: 'a\u200bb', token: 'p\u0430ss/x' }
    const wait = { ...toolCall, arguments: JSON.stringify(args), description: shownArguments(args) }
    const lines = linesOf(card(about(wait), { detail }))

    expect(lines).toContain(
      ':warning: The arguments have hidden characters. They are written as marks, such as <U+202E>.',
    )
    expect(lines).toContain(':warning: Look closely: "https://p<U+0430>y.example" has letters that look like others.')
    expect(lines.join('\n')).not.toMatch(/\u200b|ss\/x/)
  })

  test('marks the letters of a path that look like others', () => {
    const wait = changed({ path: 'src/\u0430pp\u202e.ts', hasHiddenText: true })
    expect(linesOf(card(about(wait, SMALL_DIFF)))).toContain('Change src/<U+0430>pp<U+202E>.ts +1 −1')
  })

  test('of a change shows risk, warnings, path and diff, and sets the agent’s words apart', () => {
    const wait = {
      ...changed({ protectedBecause: 'It is read by CI.', warnings: ['Line endings change.'], hasHiddenText: true }),
      risk: 'critical' as const,
    }
    const { text, blocks, files } = card(about(wait, SMALL_DIFF))

    expect(text).toMatch(
      /^claude-code in shop asks to change a file\.\nChange src\/sum\.ts \+1 −1\.\nIn the agent’s words: .+\nRisk critical\.$/,
    )
    expect(linesOf({ blocks })).toEqual([
      ':red_circle: Risk critical · claude-code in shop asks to change a file',
      HEAD,
      ':warning: Why: It is read by CI.',
      ':warning: Line endings change.',
      ':warning: The change hides characters. They are written as marks, such as <U+202E>.',
      'Change src/sum.ts +1 −1',
      'The tool: Writes a file',
      '| @@ -1,2 +1,2 @@',
      '|  const a = 1',
      '| -const b = 1',
      '| +const b = 2',
      'In the agent’s words:',
      '> Fix the sum',
      '> It was off by one.',
      ASKED,
      '[Approve] [Reject]',
      'Or reply in this thread with approve, or with reject and a reason. To edit it first, attach the whole file to your reply.',
      CONSOLE,
    ])
    expect(files).toEqual([])
  })

  test('of changes of several files shows the first of them, and leads to the console for a choice', () => {
    const one = { kind: 'modify' as const, addedLines: 1, removedLines: 0, warnings: [], protectedBecause: null }
    const changes = Array.from({ length: 22 }, (_, i) => ({
      ...{ ...one, path: `${i}.ts`, hasHiddenText: false, risk: 'low' as const, isBinary: false },
    }))
    const { supervised } = permission
    const wait: Approval = {
      ...{ ...permission, kind: 'changes', tool: 'apply_changes', title: 'Write 22 files to shop +22 −0' },
      ...{ description: changes.map(({ path }) => `Change ${path} +1 −0`).join('\n'), action: null },
      ...(supervised === undefined ? {} : { supervised: { ...supervised, run: true, changes } }),
    }
    const diff = changes.map(({ path }) => `--- a/${path}\n+++ b/${path}\n@@ -0,0 +1 @@\n+new`).join('\n')
    const text = linesOf(card(about(wait, diff)))
      .join('\n')
      .replaceAll('\n| ', '\n')

    expect(text).toContain('Write 22 files to shop +22 −0')
    expect(text).toContain('Change 19.ts +1 −0\n… and 2 more')
    expect(text).toContain('--- a/0.ts\n+++ b/0.ts\n@@ -0,0 +1 @@\n+new')
    expect(text).toContain('… 2 more changed lines. The whole diff is in the thread.')
    expect(text).toContain('To choose among the files, or to edit one, open it in the console.')
    expect(text).toContain(CONSOLE)
  })

  test('of a tool call shows the tool, what it does, its arguments and its preview', () => {
    const { text, blocks } = card(about({ ...toolCall, preview: 'Dear Bob,\nhello.' }))

    expect(text).toMatch(/^helper asks to call a tool\.\nsend_email\.\nWhat it does: mail to bob\nRisk high\.$/)
    expect(linesOf({ blocks })).toEqual([
      ':large_orange_circle: Risk high · helper asks to call a tool',
      HEAD,
      'send_email',
      'What it does:',
      '| mail to bob',
      'Arguments of send_email:',
      '| to: bob@example.com',
      'Preview by the tool:',
      '| Dear Bob,',
      '| hello.',
      ASKED,
      '[Approve] [Reject] [Approve and remember …] [Reject and remember …]',
      'Or reply in this thread with approve, or with reject and a reason. To edit it first, attach other arguments as JSON to your reply.',
      CONSOLE,
    ])
  })

  test('of a call whose arguments an operator edited shows those that run', () => {
    const edited = { ...toolCall, editedArguments: '{"to":"eve@example.com","token":"s3cret"}' }

    expect(linesOf(card(about(edited)))).toEqual(
      expect.arrayContaining(['The edited arguments, which run:', '| to: eve@example.com', '| token: [masked]']),
    )
    const again = { ...edited, arguments: edited.editedArguments, description: 'to: eve@example.com\ntoken: [masked]' }
    expect(linesOf(card(about(again)))).not.toContain('The edited arguments, which run:')
  })

  test('of an edited call shows all of the edit, also if it looks like a part of what was asked', () => {
    const asked = { command: 'rm -rf /srv/shop/build' }
    const part = { ...toolCall, arguments: JSON.stringify(asked), description: 'command: rm -rf /srv/shop/build' }
    const worse = { ...part, editedArguments: '{"command":"rm -rf /srv/shop"}' }
    expect(linesOf(card(about(worse)))).toEqual(
      expect.arrayContaining(['The edited arguments, which run:', '| command: rm -rf /srv/shop']),
    )

    const command = `echo ${'a'.repeat(3_000)}; rm -rf /`
    const long = card(about({ ...part, editedArguments: JSON.stringify({ command }) }))
    expect(linesOf(long)).toContain('Not all of it fits. All of it is in the thread, with secrets masked.')
    expect(
      long.files.map(({ name, content }) => [name.startsWith('The-edited-arguments-'), JSON.parse(content)]),
    ).toEqual([[true, { command }]])
  })

  test('of a question has a button for each allowed value, or asks for text', () => {
    const lines = linesOf(card(about(question)))
    expect(lines.slice(0, 8)).toEqual([
      ':large_orange_circle: Risk high · helper has a question from one of its tools',
      HEAD,
      'send_email asks',
      'In the tool’s words:',
      '| Which account?',
      'How to answer:',
      '| Answer with these fields:',
      '|   account (required): one of "work", "home"',
    ])
    expect(lines).toContain('[Answer: work] [Answer: home] [No answer]')
    const free = {
      ...question,
      description: 'Why?',
      question: { message: 'Why?', schema: { type: 'string' }, index: 0, effect: 'once' as const },
    }
    expect(linesOf(card(about(free)))).toContain('[Answer] [No answer]')
    // Any text will do, so there is nothing to explain.
    expect(linesOf(card(about(free)))).not.toContain('How to answer:')
  })

  test('of a host’s tool shows what will happen', () => {
    expect(linesOf(card(about(permission))).slice(0, 8)).toEqual([
      ':large_orange_circle: Risk high · claude-code in shop asks to use a tool of its host',
      HEAD,
      'Run npm test',
      'The tool: Runs a shell command',
      'Arguments of Bash:',
      '| Tool: Bash',
      '| npm test',
      ASKED,
    ])
  })

  test('of a policy shows its diff', () => {
    const { text, blocks } = card(about(policy, SMALL_DIFF))

    expect(text).toBe(
      'claude-code in shop has a policy that nobody has accepted.\nAccept the policy .quarterdeck/policy.json.\nThe policy: It says what agents in /shop may do without asking.\nRisk critical.',
    )
    expect(linesOf({ blocks })).toEqual(
      expect.arrayContaining([
        '| It says what agents in /shop may do without asking.',
        '| +const b = 2',
        '[Approve] [Reject]',
      ]),
    )
  })

  test('of a prompt asks continue, refine or stop', () => {
    const { text, blocks } = card(about(prompt))

    expect(text).toMatch(/^claude-code in shop asks whether to go on\.\nIn the agent’s words: .+$/)
    expect(linesOf({ blocks })).toEqual([
      ':question: claude-code in shop asks whether to go on',
      HEAD,
      'In the agent’s words:',
      '> Shall I go on with the tests?',
      'Time, it says: 2 min 5 s',
      'Steps, it says: 7',
      ASKED,
      '[Continue] [Do this instead] [Stop]',
      'Or reply in this thread with continue, with refine and what to do instead, or with stop.',
      CONSOLE,
    ])
  })

  test('of a wait asks resume, resume with text or stop', () => {
    expect(linesOf(card(about(standby)))).toEqual([
      ':raised_hand: claude-code in shop waits for an instruction',
      HEAD,
      'In the agent’s words:',
      '> Done. What next?',
      'Owner ada · since 2026-11-16 10:00 UTC',
      '[Resume] [Resume with text] [Stop]',
      'Or reply in this thread with resume, with resume and what to do next, or with stop.',
      CONSOLE,
    ])
  })

  test('of an alert shows the last tool, the silence, the prompt and the checklist', () => {
    const nudged = { nudgeCount: 2, lastNudgeAt: TEN, nudgedBy: 'mcp', nudgeMessage: 'Are you there?' }
    const view = about({ ...alert, status: 'nudged', ...nudged }, null, { prompt: 'Fix all bugs' })

    expect(linesOf(card(view))).toEqual([
      ':zzz: claude-code in shop has gone silent',
      HEAD,
      'It may sit in a dialog of its own, or be done.',
      'The last nudge:',
      '> Are you there?',
      'It was started with:',
      '> Fix all bugs',
      'Its own list of steps: 1 of 2',
      ':white_check_mark: Read the code',
      ':arrow_forward: Write tests',
      'Last tool: Edit',
      'Last heard of: 2026-11-16 09:54 UTC',
      'Nudged: 2 times, through mcp · 2026-11-16 10:00 UTC',
      'Owner ada · since 2026-11-16 10:00 UTC',
      '[Nudge] [Nudge with text] [Dismiss] [Stop session]',
      'Or reply in this thread with nudge, with nudge and a message, with dismiss, or with stop.',
      CONSOLE,
    ])
  })

  test('keeps a warning and a field of a question on one line, so that neither looks like ours', () => {
    const warned = changed({ warnings: ['odd name\n✅ Approved by ada'] })
    expect(linesOf(card(about(warned, SMALL_DIFF)))).toContain(':warning: odd name ⏎ ✅ Approved by ada')
    const schema = { type: 'object', properties: { a: { type: 'string', description: 'x\nb (string)' } } }
    const asked = { ...question, question: { message: 'Why?', schema, index: 0, effect: 'once' as const } }
    expect(linesOf(card(about(asked)))).toContain('|   a: a text – x\\nb (string)')
  })

  test('counts the yeses where one is not enough', () => {
    const decisions = [{ by: 'ada', via: 'slack', at: TEN + 120_000 }]

    expect(linesOf(card(about({ ...diffApproval, quorum: 2, decisions }, SMALL_DIFF)))).toContain(
      'Yeses: 1 of 2: ada. The first no closes it',
    )
  })

  test('says what a button is for by its id and value', () => {
    expect(buttonsOf(card(about(diffApproval, SMALL_DIFF)))).toEqual([
      {
        type: 'button',
        action_id: 'quarterdeck:approve',
        text: { type: 'plain_text', text: 'Approve', emoji: false },
        value: 'r1.approve.mac',
        style: 'primary',
      },
      {
        type: 'button',
        action_id: 'quarterdeck:reject',
        text: { type: 'plain_text', text: 'Reject', emoji: false },
        value: 'r1.reject.mac',
        style: 'danger',
      },
    ])
  })
})

describe('the look of a card', () => {
  test('while an answer is on its way: no buttons, and nobody is mentioned', () => {
    const lines = linesOf(card(about(prompt), { state: { type: 'working', by: 'ada', action: 'stop' } }))

    expect(lines.slice(-2)).toEqual([':hourglass_flowing_sand: Stop by ada … working on it', CONSOLE])
    expect(lines).not.toContain(HEAD)
    expect(lines.join()).not.toContain('[Stop]')
  })

  test('while a text is awaited: the buttons stay', () => {
    const lines = linesOf(card(about(prompt), { state: { type: 'awaiting_text', by: 'ada', action: 'refine' } }))

    expect(lines).toContain('[Continue] [Do this instead] [Stop]')
    expect(lines).toContain(':pencil2: ada: write the text for “Do this instead” as a reply in this thread.')
  })

  test('minimal: the diff goes to the thread, and the words are left out', () => {
    const { blocks, files } = card(about(diffApproval, SMALL_DIFF), { detail: 'minimal', mention: null, link: null })

    expect(linesOf({ blocks })).toEqual([
      ':large_orange_circle: Risk high · claude-code in shop asks to change a file',
      'Change src/sum.ts +1 −1',
      '[Approve] [Reject]',
    ])
    expect(files).toEqual([
      {
        name: expect.stringMatching(/^Change-src-sum\.ts-1-1-record-1-\w{8}\.diff$/),
        content: SMALL_DIFF,
        snippetType: 'diff',
      },
    ])
  })

  test('of a critical call offers to remember a no alone', () => {
    const { blocks } = card(about({ ...toolCall, risk: 'critical' }))

    expect(linesOf({ blocks })).toContain('[Approve] [Reject] [Reject and remember …]')
  })

  test('minimal: a call says what it does, and its arguments and preview go to the thread', () => {
    const { blocks, files } = card(about({ ...toolCall, preview: 'Dear Bob' }), {
      detail: 'minimal',
      mention: null,
      link: null,
    })

    expect(linesOf({ blocks })).toEqual([
      ':large_orange_circle: Risk high · helper asks to call a tool',
      'send_email',
      'What it does:',
      '| mail to bob',
      '[Approve] [Reject] [Approve and remember …] [Reject and remember …]',
    ])
    expect(files).toEqual([
      {
        name: expect.stringMatching(/^Arguments-of-send_email-record-1-\w{8}\.json$/),
        content: '{\n  "to": "bob@example.com"\n}',
        snippetType: 'json',
      },
      {
        name: expect.stringMatching(/^Preview-by-the-tool-record-1-\w{8}\.txt$/),
        content: 'Dear Bob',
        snippetType: 'text',
      },
    ])
  })

  test('verbose: ids and hashes are added', () => {
    expect(linesOf(card(about(diffApproval, SMALL_DIFF), { detail: 'verbose' }))).toEqual(
      expect.arrayContaining([
        'Digest: a1a2a3a4a5a6',
        `File before: ${'b'.repeat(64)}`,
        'Record record-1 · session s1',
      ]),
    )
  })

  test('a mention that is no Slack user is left out', () => {
    expect(linesOf(card(about(prompt), { mention: '!channel' })).join()).not.toContain('please answer')
  })
})

describe('a diff', () => {
  const added = (count: number) => Array.from({ length: count }, (_, i) => `+line ${i + 1}`).join('\n')
  const diffOf = (count: number) => `--- src/sum.ts\n+++ src/sum.ts\n@@ -0,0 +1,${count} @@\n${added(count)}\n`

  test('of 20 changed lines is shown whole', () => {
    const { blocks, files } = card(about(diffApproval, diffOf(20)))

    expect(linesOf({ blocks })).toContain('| +line 20')
    expect(linesOf({ blocks }).join()).not.toContain('in the thread.,')
    expect(files).toEqual([])
  })

  test('of more lines is shown in part, and the whole goes to the thread', () => {
    const { blocks, files } = card(about(diffApproval, diffOf(1_025)))
    const lines = linesOf({ blocks })

    expect(lines).toContain('| +line 20')
    expect(lines).not.toContain('| +line 21')
    expect(lines).toContain('… 1,005 more changed lines. The whole diff is in the thread.')
    expect(files).toEqual([
      {
        name: expect.stringMatching(/^Change-src-sum\.ts-1-1-record-1-\w{8}\.diff$/),
        content: diffOf(1_025),
        snippetType: 'diff',
      },
    ])
  })

  test('with a long line is cut, and says so', () => {
    const { blocks, files } = card(about(diffApproval, `${diffOf(1)}+${'x'.repeat(1_000)}\n`))

    expect(linesOf({ blocks })).toContain(`| +${'x'.repeat(299)}… 701 more characters`)
    expect(linesOf({ blocks })).toContain('Some of it is left out. The whole diff is in the thread.')
    expect(files).toHaveLength(1)
  })

  test('that is gone is not passed over in silence', () => {
    expect(linesOf(card(about(diffApproval)))).toContain(
      ':warning: The diff is gone. Reject it, and let the agent ask again.',
    )
  })

  test('of a new file, of a deletion and of an edited change is called so', () => {
    expect(linesOf(card(about(changed({ kind: 'create' }), SMALL_DIFF)))).toContain('Create src/sum.ts +1 −1')
    const gone = card(about(changed({ kind: 'delete' }), SMALL_DIFF))
    expect(linesOf(gone)).toContain('Delete src/sum.ts +1 −1')
    expect(linesOf(gone).join()).not.toContain('To edit it first')
    const { supervised } = diffApproval
    const edited = {
      ...diffApproval,
      ...(supervised === undefined ? {} : { supervised: { ...supervised, isEdited: true } }),
    }
    expect(linesOf(card(about(edited, SMALL_DIFF)))).toContain(
      ':warning: An operator has changed what the agent asked for. You decide about the edited version.',
    )
  })
})

describe('a long text', () => {
  test('of an agent is cut, and the whole goes to the thread once', () => {
    const promptText = `begin ${'word '.repeat(1_900)}end`
    const { blocks, files } = card(about({ ...prompt, promptText }))

    expect(linesOf({ blocks }).join('\n')).toContain(
      '… 6,509 more characters\nNot all of it fits. All of it is in the thread.',
    )
    expect(files).toEqual([
      {
        name: expect.stringMatching(/^In-the-agents-words-record-1-\w{8}\.txt$/),
        content: promptText,
        snippetType: 'text',
      },
    ])
    expect(card(about({ ...prompt, promptText, status: 'decided', decision: 'stop' })).files).toEqual([])
  })

  test('of arguments that were shortened goes to the thread with secrets masked', () => {
    const args = { text: 'x'.repeat(900), password: 'hunter2' }
    const shortened = {
      ...toolCall,
      description: `text: ${'x'.repeat(500)}… (400 more characters)`,
      arguments: JSON.stringify(args),
    }
    const { blocks, files } = card(about(shortened))

    expect(linesOf({ blocks })).toContain('Not all of it fits. All of it is in the thread, with secrets masked.')
    expect(files).toEqual([
      {
        name: expect.stringMatching(/^Arguments-of-send_email-record-1-\w{8}\.json$/),
        content: JSON.stringify({ ...args, password: '[masked]' }, null, 2),
        snippetType: 'json',
      },
    ])
  })
})

// The words of all ends are in `supervision/records/describe-record.test.ts`.
describe('a decided card', () => {
  const supervised = (values: object): Partial<Approval> =>
    diffApproval.supervised === undefined ? {} : { supervised: { ...diffApproval.supervised, ...values } }
  const rows: [string, PersonRecord, string[], string][] = [
    [
      'written',
      {
        ...diffApproval,
        ...by({ status: 'consumed' }),
        ...supervised({ appliedAt: TEN + 90_000, isEdited: true, mayForce: true }),
      },
      [
        `:white_check_mark: Approved ${BY_BEN}`,
        'As an operator edited it. It may overwrite the file even if that has changed.',
        'Written: SHA-256 cccccccccccccccc · 2026-11-16 10:01 UTC',
      ],
      'Approved by ben',
    ],
    [
      'approved by the policy',
      {
        ...diffApproval,
        ...by({ status: 'approved', decidedBy: 'policy', decidedVia: 'policy', reason: 'file_pattern:write:src/**' }),
      },
      [
        ':white_check_mark: Approved by the workspace’s policy · 2026-11-16 10:01 UTC',
        'The agent has not written it yet.',
        'Reason:',
        '> file_pattern:write:src/**',
      ],
      'Approved by the workspace’s policy',
    ],
    [
      'a call that was allowed',
      { ...permission, ...by({ status: 'approved', decidedVia: 'ctl' }) },
      [':white_check_mark: Approved by ben · 2026-11-16 10:01 UTC · at a terminal'],
      'Approved by ben',
    ],
    [
      'rejected',
      { ...diffApproval, ...by({ status: 'rejected', reason: 'Not now.' }) },
      [`:x: Rejected ${BY_BEN}`, 'Reason:', '> Not now.'],
      'Rejected by ben',
    ],
    [
      'answered',
      { ...question, ...by({ status: 'answered', response: '{"account":"work"}', decidedVia: 'pager' }) },
      [':white_check_mark: Answered by ben · 2026-11-16 10:01 UTC · through pager', 'Answer:', '> {"account":"work"}'],
      'Answered by ben',
    ],
    [
      'expired',
      { ...toolCall, status: 'expired', decidedBy: 'timeout', decidedAt: TEN + 3_600_000 },
      [
        ':white_circle: Expired · 2026-11-16 11:00 UTC',
        'Nobody answered in time, so it counts as refused. It was not a person’s no.',
      ],
      'Expired',
    ],
    [
      'approved and then interrupted',
      { ...toolCall, ...by({ status: 'interrupted' }) },
      [`:octagonal_sign: Approved ${BY_BEN}`, 'Interrupted: the call did not run.'],
      'Approved by ben',
    ],
    [
      'a prompt, refine',
      { ...prompt, ...by({ status: 'decided', decision: 'refine', instruction: 'Tests first.' }) },
      [`:white_check_mark: Told what to do ${BY_BEN}`, 'Instruction:', '> Tests first.'],
      'Told what to do by ben',
    ],
    [
      'an alert that ended by itself',
      { ...alert, status: 'self_recovered' },
      [':white_check_mark: Recovered by itself', 'The agent reports again.'],
      'Recovered by itself',
    ],
    [
      'an alert, dismissed',
      { ...alert, ...by({ status: 'dismissed' }) },
      [`:white_circle: Dismissed ${BY_BEN}`],
      'Dismissed by ben',
    ],
  ]

  test.each(rows)('says who decided what, when and where, and has no buttons: %s', (_name, wait, first, notified) => {
    const message = card(about(wait, wait.wait === 'approval' && wait.kind === 'diff' ? SMALL_DIFF : null))
    const lines = linesOf(message)

    expect(lines.slice(0, first.length)).toEqual(first)
    // Then comes what was asked.
    expect(lines[first.length]).toMatch(/claude-code in shop|helper/)
    expect(message.text.split('\n')[0]).toBe(`${notified}.`)
    expect(buttonsOf(message)).toEqual([])
    expect(lines.join()).not.toContain('please answer')
    expect(message.files).toEqual([])
  })

  test('of an alert that stopped the agent says that the session is over', () => {
    const record = { ...alert, ...by({ status: 'dismissed', reason: 'The session was stopped.' }) } as PersonRecord

    expect(linesOf(card(about(record))).slice(0, 3)).toEqual([
      `:white_circle: Dismissed ${BY_BEN}`,
      'Reason:',
      '> The session was stopped.',
    ])
  })

  test('that is escalated still has its buttons', () => {
    const lines = linesOf(card(about({ ...alert, status: 'escalated' })))

    expect(lines[0]).toBe(':rotating_light: claude-code in shop is still silent after all nudges')
    expect(lines).toContain('[Nudge] [Nudge with text] [Dismiss] [Stop session]')
  })
})
