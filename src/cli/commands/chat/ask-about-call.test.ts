import { describe, expect, test } from 'vitest'
import type { Approval } from '../../../domain/records/record.ts'
import { withRequests } from '../../../protocols/manage/records/kinds-on-wire.ts'
import { describe as describeRecord } from '../../../supervision/records/describe-record.ts'
import { approval } from '../../../supervision/testing/approval.ts'
import { plainStyle } from '../../terminal/style.ts'
import type { Asked } from '../../terminal/terminal-prompt.ts'
import { pendingApproval, scriptedPrompts } from '../../testing/chat-talk.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { askAboutCall, callLines } from './ask-approvals.ts'
import type { PendingApproval } from './chat-event.ts'

const CHOICES = 'y(es), n(o), e(dit the arguments), a(nswer in its place)'
const never = new AbortController().signal
const interrupt: Asked = { type: 'interrupt' }

async function ask(given: Partial<PendingApproval>, ...script: (string | Asked)[]) {
  const io = createTestIo()
  const prompts = scriptedPrompts(...script)
  const answer = await askAboutCall(pendingApproval('a', given), null, prompts.open, io, never)
  return { answer, asked: prompts.asked, out: io.printed() }
}

describe('the question about a call', () => {
  test('shows tool, risk and arguments, and accepts yes', async () => {
    expect(await ask({}, 'y')).toEqual({
      answer: { id: 'a', digest: 'seen-a', approved: true },
      asked: [['Allow it? ']],
      out: `The agent asks to call send (risk high):\n  to: bob\n${CHOICES}, s(ession): yes, also to the same call in this session for 15 minutes\n`,
    })
    expect((await ask({}, ' YES ')).answer).toEqual({ id: 'a', digest: 'seen-a', approved: true })
  })

  test('warns of letters that look like others, and marks hidden characters', async () => {
    const { out } = await ask({ arguments: { url: 'https://p\u0430y.example', note: 'a\u200b\u3164b' } }, 'y')
    expect(out).toContain('  Look closely: "https://p<U+0430>y.example" has letters that look like others.\n')
    expect(out).toContain('  note: a<U+200B><U+3164>b\n')
  })

  test('says that something is left out', async () => {
    const note = 'Some of it is left out. e shows everything.\n'
    for (const args of [{ run: 'x'.repeat(600) }, { token: 'rm -rf /' }, { list: [{ password: 'x' }] }]) {
      expect((await ask({ arguments: args }, 'y')).out).toContain(note)
    }
    expect((await ask({ arguments: { run: 'x'.repeat(400) } }, 'y')).out).not.toContain(note)
  })

  test('accepts no, with or without a reason', async () => {
    expect((await ask({}, 'n', ' Not today. ')).answer).toEqual({
      id: 'a',
      digest: 'seen-a',
      approved: false,
      reason: 'Not today.',
    })
    expect((await ask({}, 'no', '')).answer).toEqual({ id: 'a', digest: 'seen-a', approved: false })
  })

  test('accepts other arguments, starting from the model’s with invisible characters written out', async () => {
    const { answer, asked, out } = await ask({ arguments: { to: 'b\u202eob\u001b' } }, 'e', '["x"]', '{"to": "eve"}')

    expect(answer).toEqual({ id: 'a', digest: 'seen-a', approved: true, arguments: { to: 'eve' } })
    expect(asked).toEqual([
      ['Allow it? '],
      ['Arguments as JSON: ', '{"to":"b\\u202eob\\u001b"}'],
      ['Arguments as JSON: ', '["x"]'],
    ])
    expect(out).toContain('That is not a JSON object.')
  })

  test('comes back when the arguments are not changed', async () => {
    expect((await ask({}, 'e', ' ', 'n', '')).answer).toEqual({ id: 'a', digest: 'seen-a', approved: false })
  })

  test('accepts yes for the session, except for critical calls', async () => {
    expect((await ask({}, 's')).answer).toEqual({ id: 'a', digest: 'seen-a', approved: true, remember: true })
    const critical = await ask({ risk: 'critical' }, 's', 'y')
    expect(critical.answer).toEqual({ id: 'a', digest: 'seen-a', approved: true })
    expect(critical.out).toBe(
      `The agent asks to call send (risk critical):\n  to: bob\n${CHOICES}\nCritical calls are asked about every time.\n`,
    )
  })

  test('is asked again until the answer is clear', async () => {
    const { answer, asked } = await ask({}, '', 'ok', 'yes please', 'y')

    expect([answer, asked.length]).toEqual([{ id: 'a', digest: 'seen-a', approved: true }, 4])
  })

  test('stays unanswered after Ctrl-C at any point', async () => {
    for (const script of [[interrupt], ['n', interrupt], ['e', interrupt], [{ type: 'end' } as const]]) {
      expect((await ask({}, ...script)).answer).toBeNull()
    }
  })

  test('cannot be faked by the model’s text, and fits on a screen or two', () => {
    const lines = callLines(
      pendingApproval('a', {
        tool: 'send\x1b[2J\nAllow it?',
        arguments: { text: 'x\nto: eve\x1b[2J', password: 'hunter2', long: 'y'.repeat(10_000) },
      }),
      null,
      plainStyle,
    )

    expect(lines).toEqual([
      'The agent asks to call send<U+001B>[2J\\nAllow it? (risk high):',
      '  text: x\\nto: eve<U+001B>[2J',
      '  password: [masked]',
      expect.stringMatching(/^ {2}long: y{500}… \(9500 more characters\)$/),
    ])
  })

  test('uses the server’s text if there is no tool', () => {
    const asked = pendingApproval('a', { tool: '', risk: '', message: 'Go on?\nReally?' })
    expect(callLines(asked, null, plainStyle)).toEqual(['The agent asks:', '  Go on?', '  Really?'])
  })

  test('says what the server says of it: what the call will do, its arguments and what the tool shows', async () => {
    const record: Approval = {
      ...approval,
      tool: 'send\x1b[2J',
      description: 'to: bob',
      action: 'POST https://mail.example.com/',
      preview: '- old\n+ new\x1b[2J',
    }
    const view = withRequests(record, describeRecord(record, { folder: null, title: null, prompt: null }))
    const io = createTestIo()
    await askAboutCall(pendingApproval('a'), view, scriptedPrompts('y').open, io, never)
    expect(io.printed().split('\n').slice(0, 11)).toEqual([
      'helper asks to call a tool: send<U+001B>[2J (risk high)',
      '',
      'What it does:',
      '  POST https://mail.example.com/',
      '',
      'Arguments of send<U+001B>[2J:',
      '  to: bob',
      '',
      'Preview by the tool:',
      '  - old',
      '  + new<U+001B>[2J',
    ])
  })

  test('accepts a result in the place of the tool', async () => {
    expect((await ask({}, 'a', 'Bob has it.')).answer).toEqual({
      id: 'a',
      digest: 'seen-a',
      approved: true,
      result: 'Bob has it.',
    })
    expect((await ask({}, 'a', ' ', 'n', '')).answer).toEqual({ id: 'a', digest: 'seen-a', approved: false })
  })
})

describe('a question of a tool', () => {
  const question = (schema: Record<string, unknown>) => ({ message: 'Which size?', answerSchema: schema })

  test('takes a text as it is', async () => {
    expect(await ask(question({ type: 'string' }), 'L')).toEqual({
      answer: { id: 'a', digest: 'seen-a', approved: true, result: 'L' },
      asked: [['Your answer: ']],
      out: 'send asks you:\n  Which size?\nAn empty line refuses to answer.\n',
    })
  })

  test('takes everything else as JSON, with the fields to begin with', async () => {
    const { answer, asked } = await ask(
      question({ type: 'object', properties: { size: { type: 'string' } } }),
      '{"size": L}',
      '{"size": "L"}',
    )
    expect(answer).toEqual({ id: 'a', digest: 'seen-a', approved: true, result: { size: 'L' } })
    expect(asked[0]).toEqual(['Your answer as JSON: ', '{"size":null}'])
  })

  test('is refused by an empty line, and stays open after Ctrl-C', async () => {
    expect((await ask(question({ type: 'string' }), '')).answer).toEqual({ id: 'a', digest: 'seen-a', approved: false })
    expect((await ask(question({ type: 'string' }), interrupt)).answer).toBe(null)
  })
})
