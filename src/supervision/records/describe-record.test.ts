import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Alert,
  type Approval,
  NOBODY_WAITS,
  type PersonRecord,
  type Prompt,
  type Standby,
} from '../../domain/records/record.ts'
import { callDigest } from '../../json/digest.ts'
import { approval } from '../testing/approval.ts'
import { describeInShort, describe as describeRecord, endedAlone } from './describe-record.ts'
import { type RecordScene, type RecordView, RecordViewSchema } from './record-view.ts'

/** 2026-11-16, 10:00 UTC. */
const TEN = Date.UTC(2026, 10, 16, 10)
const ISO = '2026-11-16T10:00:00.000Z'

const scene: RecordScene = { folder: 'shop', title: 'Bugs', prompt: 'Fix all bugs', diff: '+b\n' }
const elsewhere = { host: 'claude-code', contentKey: 'k', returnedAt: null }
const asked = { ...approval, owner: 'ada', createdAt: TEN, expiresAt: null }

const call: Approval = {
  ...asked,
  title: 'send_email: mail to bob',
  action: 'mail to bob',
  description: 'to: bob',
  arguments: '{"to":"bob","token":"s3cret"}',
}
const question: Approval = {
  ...call,
  kind: 'question',
  question: { message: 'Which\naccount?', schema: { enum: ['work', 'home'] }, index: 0, effect: 'once' },
}
const change = {
  ...{ path: 'src/sum.ts', kind: 'modify' as const, addedLines: 2, removedLines: 1 },
  ...{ warnings: ['Line endings change.'], protectedBecause: 'It is read by CI.', hasHiddenText: false },
}
const supervised = { ...elsewhere, change, mayForce: false, isEdited: false, appliedAt: null }
const diff: Approval = {
  ...asked,
  kind: 'diff',
  tool: 'ask_approval',
  title: 'Fix the sum',
  description: 'It was off by one.',
  beforeHash: 'b'.repeat(64),
  afterHash: 'c'.repeat(64),
  supervised,
}
const bash = { ...asked, tool: 'Bash', arguments: '{"command":"npm test"}' }
const permission: Approval = {
  ...bash,
  kind: 'permission',
  title: 'Run npm test',
  description: 'npm test',
  digest: callDigest({ ...bash, arguments: { command: 'npm test' } }),
  supervised: { ...supervised, change: null },
}
const policy: Approval = {
  ...permission,
  kind: 'policy',
  title: 'Accept the policy p.json',
  description: 'It says much.',
}

const record = {
  ...{ id: 'r1', sessionId: 's1', owner: 'ada', agent: 'claude-code', createdAt: TEN, expiresAt: null, runId: 'r' },
  ...{ callId: 'c', tool: '', arguments: '{}', lane: null, continuationRunId: null, messageRefs: {}, reason: null },
  ...{ decidedAt: null, decidedBy: null, decidedVia: null, status: 'pending' as const },
}
const prompt: Prompt = {
  ...{ ...record, wait: 'prompt', supervised: elsewhere, promptText: 'Shall I\ngo on?', promptType: 'continuation' },
  ...{ elapsedSeconds: 125, actionsTaken: 1_200, decision: null, instruction: null },
}
const standby: Standby = {
  ...{ ...record, wait: 'standby', supervised: elsewhere, message: 'Done.', timeoutSeconds: 0, instruction: null },
}
const alert: Alert = {
  ...{ ...record, wait: 'alert', supervised: { host: 'codex' }, lastTool: 'Edit', lastActivityAt: TEN },
  ...{ idleSeconds: 303, nudgeCount: 0, nudgeMessage: null, lastNudgeAt: null, nudgedBy: null },
  progressSnapshot: [{ label: 'Read', status: 'done' }],
}

/** The words of a list, of a headline and of a locked screen. */
const wordsOf = ({ label, mark, agent, asks, title, gist, brief }: RecordView): string[] => [
  `${label} (${mark})`,
  `${agent} ${asks}`,
  ...(gist === '' ? [title] : [title, gist]),
  brief,
]

describe('what a record is about', () => {
  test.each<[string, PersonRecord, string[]]>([
    ['a call', call, ['Tool call (call)', 'helper asks to call a tool', 'send_email', 'to: bob', 'Tool send_email']],
    [
      'a question',
      question,
      [
        ...['Question of a tool (question)', 'helper has a question from one of its tools', 'send_email asks'],
        ...['Which account?', 'Tool send_email'],
      ],
    ],
    [
      'a change',
      diff,
      [
        ...['Change of a file (change)', 'claude-code asks to change a file', 'Change src/sum.ts +2 −1', 'Fix the sum'],
        'Change of a file: +2 −1 lines',
      ],
    ],
    [
      'a new file, by a tool of the host',
      { ...permission, supervised: { ...supervised, change: { ...change, kind: 'create', path: 'src/\u0430.ts' } } },
      [
        ...['Tool of a host (change)', 'claude-code asks to create a file', 'Create src/<U+0430>.ts +2 −1'],
        'Change of a file: +2 −1 lines',
      ],
    ],
    [
      'a deletion',
      { ...diff, supervised: { ...supervised, change: { ...change, kind: 'delete' } } },
      [
        ...['Change of a file (change)', 'claude-code asks to delete a file', 'Delete src/sum.ts +2 −1', 'Fix the sum'],
        'Change of a file: +2 −1 lines',
      ],
    ],
    [
      'a tool of a host',
      permission,
      ['Tool of a host (tool)', 'claude-code asks to use a tool of its host', 'Run npm test', 'Tool Bash'],
    ],
    [
      'a policy',
      policy,
      [
        ...['Policy (policy)', 'claude-code has a policy that nobody has accepted', 'Accept the policy p.json'],
        'New policy of a workspace',
      ],
    ],
    [
      'a prompt',
      prompt,
      [
        ...['Question from an agent (prompt)', 'claude-code asks whether to go on', 'May it go on?', 'Shall I go on?'],
        'May it go on?',
      ],
    ],
    [
      'a prompt for more words',
      { ...prompt, promptType: 'clarification' },
      [
        ...['Question from an agent (prompt)', 'claude-code asks what you mean', 'It needs to know more'],
        ...['Shall I go on?', 'It needs to know more.'],
      ],
    ],
    [
      'a prompt after an error',
      { ...prompt, promptType: 'error_recovery' },
      [
        ...['Question from an agent (error)', 'claude-code has run into an error and asks what to do'],
        ...['It has run into an error', 'Shall I go on?', 'It has run into an error.'],
      ],
    ],
    [
      'a prompt with a warning',
      { ...prompt, promptType: 'resource_warning' },
      [
        ...['Question from an agent (prompt)', 'claude-code warns that something runs out', 'Something runs out'],
        ...['Shall I go on?', 'Something runs out.'],
      ],
    ],
    [
      'a standby',
      standby,
      [
        ...['Agent stands by (standby)', 'claude-code waits for an instruction', 'What should it do next?', 'Done.'],
        'It stands by until you tell it what to do.',
      ],
    ],
    [
      'silence',
      alert,
      [
        ...['Silent agent (silence)', 'codex has gone silent', 'Gone silent', 'after Edit'],
        'It gives no sign of life.',
      ],
    ],
    [
      'silence after all nudges',
      { ...alert, status: 'escalated', nudgeCount: 3 },
      [
        ...[
          'Silent agent (alarm)',
          'codex is still silent after all nudges',
          'Still silent after all nudges',
          'after Edit',
        ],
        'It gives no sign of life. Nudged 3 times.',
      ],
    ],
  ])('%s', (_name, wait, words) => {
    const view = describeRecord(wait, scene)

    expect(wordsOf(view)).toEqual(words)
    expect(RecordViewSchema.parse(JSON.parse(JSON.stringify(view)))).toEqual(view)
    expect(view.outcome).toBeNull()
    expect(describeInShort(wait, scene)).toEqual({ ...view, body: [] })
  })

  test('whose it is, where, and since when', () => {
    const { id, kind, folder, session, owner, asked_at, expires_at } = describeRecord(
      { ...standby, expiresAt: TEN },
      scene,
    )
    expect({ id, kind, folder, session, owner, asked_at, expires_at }).toEqual({
      ...{ id: 'r1', kind: 'wait', folder: 'shop', session: { id: 's1', title: 'Bugs' }, owner: 'ada' },
      ...{ asked_at: ISO, expires_at: ISO },
    })
  })
})

describe('what a person looks at', () => {
  const bodyOf = (wait: PersonRecord, over: Partial<RecordScene> = {}) =>
    describeRecord(wait, { ...scene, ...over }).body
  const given = {
    ...{ type: 'arguments', title: 'Arguments of send_email', text: 'to: bob' },
    whole: { to: 'bob', token: '[masked]' },
  }
  const prose = (title: string, by: string, text: string) => ({ type: 'prose', title, by, text })
  const whatChanges = { type: 'diff', title: 'What changes', text: '+b\n' }

  test('of a call: what it does, its arguments without secrets, its preview', () => {
    expect(bodyOf({ ...call, preview: 'Dear Bob' }, { diff: null })).toEqual([
      prose('What it does', 'server', 'mail to bob'),
      given,
      prose('Preview by the tool', 'tool', 'Dear Bob'),
    ])
  })

  test('of an edited call: what was asked, and then what runs', () => {
    const edited = { ...call, editedArguments: '{"to":"eve"}' }
    expect(bodyOf(edited, { diff: null }).slice(1)).toEqual([
      given,
      { type: 'arguments', title: 'The edited arguments, which run', text: 'to: eve', whole: { to: 'eve' } },
    ])
    // It was asked again, about the edited call.
    expect(bodyOf({ ...edited, arguments: '{"to":"eve"}' }, { diff: null })).toHaveLength(2)
  })

  test('of a change: the diff before the words of the agent, or that it is gone', () => {
    const words = prose('In the agent’s words', 'agent', 'Fix the sum\nIt was off by one.')
    expect(bodyOf(diff)).toEqual([whatChanges, words])
    expect(bodyOf(diff, { diff: null })).toEqual([words])
    expect(describeRecord(diff, { ...scene, diff: null }).warnings).toEqual([
      'Line endings change.',
      'The diff is gone. Reject it, and let the agent ask again.',
    ])
  })

  test('of the others', () => {
    expect(bodyOf(question)).toEqual([
      prose('In the tool’s words', 'tool', 'Which\naccount?'),
      prose('How to answer', 'server', 'Answer with one of "work", "home"'),
    ])
    expect(bodyOf(policy)).toEqual([prose('The policy', 'server', 'It says much.'), whatChanges])
    expect(bodyOf(prompt)).toEqual([prose('In the agent’s words', 'agent', 'Shall I\ngo on?')])
    expect(bodyOf({ ...standby, message: '' })).toEqual([])
    expect(bodyOf({ ...alert, status: 'nudged', nudgeCount: 1, nudgeMessage: 'Still there?' })).toEqual([
      prose('', 'server', 'It may sit in a dialog of its own, or be done.'),
      prose('The last nudge', 'person', 'Still there?'),
      prose('It was started with', 'person', 'Fix all bugs'),
      { type: 'steps', title: 'Its own list of steps', steps: [{ label: 'Read', status: 'done' }] },
    ])
  })

  test('also what speaks against it, and what else is known', () => {
    const yes = { by: 'ada', via: 'slack', at: TEN }
    const view = describeRecord({ ...diff, quorum: 2, decisions: [yes], digest: 'd' }, scene)
    const fact = (name: string, text: string, at: string | null = null, minor = false) => ({ name, text, at, minor })
    expect([view.risk, view.warnings]).toEqual([{ level: 'high', why: 'It is read by CI.' }, ['Line endings change.']])
    expect(view.facts).toEqual([
      fact('Yeses', '1 of 2: ada. The first no closes it'),
      fact('Digest', 'd', null, true),
      fact('File before', 'b'.repeat(64), null, true),
      fact('File after', 'c'.repeat(64), null, true),
    ])
    expect(describeRecord(prompt, scene).facts).toEqual([
      fact('Time, it says', '2 min 5 s'),
      fact('Steps, it says', '1,200'),
    ])
    const nudged = { ...alert, nudgeCount: 2, lastNudgeAt: TEN, nudgedBy: 'mcp' }
    expect(describeRecord(nudged, scene).facts).toEqual([
      fact('Last tool', 'Edit'),
      fact('Last heard of', '', ISO),
      fact('Nudged', '2 times, through mcp', ISO),
    ])
    const left = { ...prompt, supervised: { ...elsewhere, leftAt: TEN } }
    expect(describeRecord(left, scene).warnings).toEqual([NOBODY_WAITS])
    const edited = { ...diff, supervised: { ...supervised, isEdited: true } }
    expect(describeRecord(edited, scene).warnings).toContain(
      'An operator has changed what the agent asked for. You decide about the edited version.',
    )
  })
})

describe('how it is answered', () => {
  const words = (wait: PersonRecord): string[] =>
    describeRecord(wait, scene).actions.map(
      ({ name, label, takes, text, main, danger }) =>
        `${name}: ${label}, ${takes}${text === '' ? '' : ` (${text})`}${main ? ', main' : ''}${danger ? ', danger' : ''}`,
    )
  const reject = 'reject: Reject, note (a reason), danger'

  test.each<[string, PersonRecord, string[]]>([
    ['a call', call, ['approve: Approve, nothing, main', 'edit: Edit, edit (other arguments)', reject]],
    ['a change', diff, ['approve: Approve, nothing, main', 'edit: Edit, edit (the whole file)', reject]],
    ['a policy', policy, ['approve: Approve, nothing, main', reject]],
    [
      'a question',
      question,
      ['answer: Answer, answer (your answer), main', 'reject: No answer, note (a reason), danger'],
    ],
    [
      'a prompt',
      prompt,
      [
        ...['continue: Continue, note (an instruction), main', 'refine: Do this instead, text (what to do instead)'],
        'stop: Stop, note (a reason), danger',
      ],
    ],
    ['a standby', standby, ['resume: Resume, optional_text (what to do next), main', 'stop: Stop, nothing, danger']],
    [
      'silence',
      { ...alert, status: 'nudged' },
      [
        ...['nudge: Nudge, optional_text (a message), main', 'dismiss: Dismiss, nothing'],
        'stop: Stop session, nothing, danger',
      ],
    ],
    ['what is over', { ...prompt, status: 'interrupted' }, []],
  ])('%s', (_name, wait, expected) => {
    expect(words(wait)).toEqual(expected)
  })

  test('a question with few answers has a choice for each', () => {
    expect(describeRecord(question, scene).actions[0]?.choices).toEqual([
      { label: 'Answer: work', answer: 'work' },
      { label: 'Answer: home', answer: 'home' },
    ])
  })
})

describe('how it ended', () => {
  const byBen = { decidedBy: 'ben', decidedAt: TEN, decidedVia: 'slack:C1' }
  const BEN = 'by ben in Slack'
  const alone = { decidedBy: 'timeout', decidedAt: TEN }
  const change = (values: object): Partial<Approval> => ({ supervised: { ...supervised, ...values } })

  test.each<[string, PersonRecord, string[], 'alone' | null]>([
    ['a yes', { ...permission, ...byBen, status: 'approved' }, [`Approved (good) ${BEN}`], null],
    [
      'a yes that was used',
      { ...call, ...byBen, status: 'consumed', consumedAt: TEN },
      [`Approved (good) ${BEN}`, `Used: ${ISO}`],
      null,
    ],
    [
      'a yes to a change',
      { ...diff, ...byBen, status: 'approved' },
      [`Approved (good) ${BEN}`, 'The agent has not written it yet.'],
      null,
    ],
    [
      'a yes that the agent could not use yet',
      { ...diff, ...byBen, status: 'approved', ...change({ refused: 'src/sum.ts has changed.' }) },
      [`Approved (good) ${BEN}`, 'Not written yet: src/sum.ts has changed.'],
      null,
    ],
    [
      'a change that is being written',
      { ...diff, ...byBen, status: 'consumed' },
      [`Approved (good) ${BEN}`, 'It is being written.'],
      null,
    ],
    [
      'a change that was edited and written',
      { ...diff, ...byBen, status: 'consumed', ...change({ appliedAt: TEN, isEdited: true, mayForce: true }) },
      [
        ...[`Approved (good) ${BEN}`, 'As an operator edited it. It may overwrite the file even if that has changed.'],
        `Written: SHA-256 cccccccccccccccc ${ISO}`,
      ],
      null,
    ],
    [
      'a change that was not written',
      { ...diff, ...byBen, status: 'consumed', ...change({ notApplied: 'The file changed.' }) },
      [`Approved (good) ${BEN}`, 'Not written: The file changed.'],
      null,
    ],
    [
      'a yes of the policy',
      { ...permission, decidedBy: 'policy', decidedAt: TEN, status: 'approved', reason: 'command:npm test' },
      ['Approved (good) by the workspace’s policy', 'Reason: command:npm test'],
      null,
    ],
    [
      'a no',
      { ...call, ...byBen, status: 'rejected', reason: 'Not now.' },
      [`Rejected (bad) ${BEN}`, 'Reason: Not now.'],
      null,
    ],
    [
      'an answer',
      { ...question, ...byBen, decidedVia: 'pager', status: 'answered', response: '"work"' },
      ['Answered (good) by ben through pager', 'Answer: work'],
      null,
    ],
    [
      'no answer in time',
      { ...call, ...alone, status: 'expired' },
      ['Expired (neutral)', 'Nobody answered in time, so it counts as refused. It was not a person’s no.'],
      'alone',
    ],
    [
      'a question that nobody waits for',
      { ...policy, status: 'interrupted' },
      ['Interrupted (warn)', 'The agent or its run ended before anybody answered. Nothing was decided.'],
      null,
    ],
    [
      'a question that ended with a restart',
      { ...question, status: 'interrupted', decidedBy: 'restart' },
      ['Interrupted (warn)', 'The agent or its run ended before anybody answered. Nothing was decided.'],
      'alone',
    ],
    [
      'a yes of which nothing came',
      { ...call, ...byBen, status: 'interrupted' },
      [`Approved (warn) ${BEN}`, 'Interrupted: the call did not run.'],
      null,
    ],
    ['continue', { ...prompt, ...byBen, status: 'decided', decision: 'continue' }, [`Continued (good) ${BEN}`], null],
    [
      'refine',
      { ...prompt, ...byBen, status: 'decided', decision: 'refine', instruction: 'Tests first.' },
      [`Told what to do (good) ${BEN}`, 'Instruction: Tests first.'],
      null,
    ],
    [
      'stop',
      { ...prompt, ...byBen, status: 'decided', decision: 'stop', reason: 'Enough.' },
      [`Stopped (warn) ${BEN}`, 'Reason: Enough.'],
      null,
    ],
    [
      'a prompt that goes on by itself',
      { ...prompt, ...alone, status: 'decided', decision: 'continue' },
      ['Continued (good)', 'Nobody answered in time, so it goes on by itself.'],
      'alone',
    ],
    [
      'a prompt that stops by itself',
      { ...prompt, ...alone, status: 'decided', decision: 'stop', reason: 'timeout' },
      ['Stopped (warn)', 'Nobody answered in time, so the agent was told to stop.'],
      'alone',
    ],
    [
      'a prompt that nobody waits for',
      { ...prompt, status: 'interrupted' },
      ['Interrupted (warn)', 'The agent or its run ended before anybody answered. Nothing was decided.'],
      null,
    ],
    ['resume', { ...standby, ...byBen, status: 'resumed' }, [`Resumed (good) ${BEN}`], null],
    [
      'resume with an instruction',
      { ...standby, ...byBen, status: 'resumed', instruction: 'Write docs.' },
      [`Resumed (good) ${BEN}`, 'Instruction: Write docs.'],
      null,
    ],
    [
      'the end of a standby',
      { ...standby, ...byBen, status: 'resumed', instruction: 'stop' },
      [`Stopped (warn) ${BEN}`],
      null,
    ],
    [
      'a standby that timed out',
      { ...standby, ...alone, status: 'timeout' },
      ['Timed out (neutral)', 'Nobody answered in time, and the agent knows.'],
      'alone',
    ],
    [
      'a standby that nobody waits for',
      { ...standby, status: 'interrupted' },
      ['Interrupted (warn)', 'The agent or its run ended before anybody answered. Nothing was decided.'],
      null,
    ],
    [
      'silence that ended',
      { ...alert, status: 'self_recovered' },
      ['Recovered by itself (good)', 'The agent reports again.'],
      'alone',
    ],
    [
      'silence that ended after nudges',
      { ...alert, status: 'self_recovered', nudgeCount: 2 },
      ['Recovered after 2 nudges (good)', 'The agent reports again.'],
      'alone',
    ],
    ['silence that is fine', { ...alert, ...byBen, status: 'dismissed' }, [`Dismissed (neutral) ${BEN}`], null],
    [
      'silence of a closed window',
      { ...alert, status: 'dismissed' },
      ['Closed (neutral)', 'The agent’s session has ended.'],
      null,
    ],
  ])('%s', (_name, wait, lines, how) => {
    const { outcome, actions } = describeRecord(wait, scene)
    const { word, tone, by, via, more, facts, reason, words } = outcome ?? expect.fail('it is not over')

    expect([
      [`${word} (${tone})`, by === null ? '' : `by ${by}`, via ?? ''].filter((one) => one !== '').join(' '),
      ...(more === '' ? [] : [more]),
      ...facts.map(({ name, text, at }) => `${name}: ${[text, at].filter((one) => one !== '').join(' ')}`),
      ...(reason === null ? [] : [`Reason: ${reason}`]),
      ...(words === null ? [] : [`${words.title}: ${words.text}`]),
    ]).toEqual(lines)
    expect(actions).toEqual([])
    expect(endedAlone(wait)).toBe(how === 'alone')
  })

  test('silence of a session that was stopped', () => {
    const reason = 'The session was stopped.'
    const { outcome } = describeRecord({ ...alert, ...byBen, status: 'dismissed', reason }, scene)
    expect(outcome).toMatchObject({ word: 'Dismissed', by: 'ben', reason })
  })
})

test('what stands in a headline, on a locked screen and on a button is never written by an agent', () => {
  const records = [call, question, diff, permission, policy, prompt, standby, { ...alert, nudgeCount: 1 }]
  fc.assert(
    fc.property(fc.constantFrom<PersonRecord>(...records), fc.string({ minLength: 4 }), (wait, noise) => {
      const said = `☠${noise}☠`
      const written = JSON.stringify({ [said]: said })
      const change = wait.wait === 'approval' ? wait.supervised?.change : null
      const view = describeRecord(
        {
          ...wait,
          ...{ title: said, description: said, action: said, preview: said, promptText: said, message: said },
          ...{ arguments: written, lastTool: said, nudgeMessage: said },
          ...(wait.wait === 'approval' && wait.question !== undefined
            ? { question: { message: said, schema: { type: 'string', description: said }, index: 0, effect: 'once' } }
            : {}),
          ...(change ? { supervised: { ...supervised, change: { ...change, path: said, warnings: [said] } } } : {}),
        } as PersonRecord,
        { ...scene, prompt: said, diff: said },
      )
      const ours = { label: view.label, asks: view.asks, brief: view.brief, actions: view.actions }
      expect(JSON.stringify(ours)).not.toContain('☠')
    }),
  )
})
