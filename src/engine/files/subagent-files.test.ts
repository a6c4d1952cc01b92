import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { FILES_NOTICE } from '../../domain/session/file-frame.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { ModelRequest } from '../../models/model.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { scriptedModel } from '../../models/testing/scripted-model.ts'
import type { CallRules } from '../../supervision/approvals/call-rules.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { AgentTool, Tool } from '../../tools/tool.ts'
import { outline, testAgent, testTool } from '../testing/open-engine.ts'
import { openWithFiles, PDF, pages, results, text, toolNames, users } from '../testing/open-with-files.ts'

const agentTool = (handoff: boolean): AgentTool => {
  const { call: _call, ...rules } = testTool({ name: 'ask_clerk', call: async () => ({ content: '', isError: false }) })
  return { ...rules, location: 'agent', agent: 'clerk', handoff }
}

const askClerk = { parts: [{ tool_call: { name: 'ask_clerk', arguments: { message: 'What is the total?' } } }] }
const readFile = (args: { file: string; from?: number }) => ({
  parts: [{ tool_call: { name: 'read_file', arguments: { ...args } } }],
})
const done = { parts: [{ text: 'Done.' }] }

interface Clerk {
  handoff?: boolean
  tools?: readonly Tool[]
  rules?: CallRules
}

/** An agent that asks the clerk, and what the clerk's model is told. */
function openWithClerk(answers: ScriptedOptions['answers'], { handoff = false, tools = [], ...options }: Clerk = {}) {
  const asked: ModelRequest[] = []
  const clerk = {
    definition: { ...testAgent, name: 'clerk', default: false, internal: true },
    model: scriptedModel({
      answers,
      clock: createSystemClock(),
      loop: true,
      onRequest: (request) => void asked.push(request),
    }),
    toolbox: createStaticToolbox(tools),
  }
  const server = openWithFiles({
    tools: [agentTool(handoff)],
    answers: [askClerk, done],
    others: [clerk],
    ...options,
  })
  return { ...server, asked }
}

describe('a sub-agent that is called like a tool', () => {
  test('is told which files there are, and reads them under the names that its caller knows', async () => {
    const server = openWithClerk([
      readFile({ file: 'bill.pdf', from: 2 }),
      readFile({ file: 'bill (2).pdf' }),
      { parts: [{ text: 'It is 12.' }] },
    ])
    const { events } = await server.say('Check these.', [
      await server.add('bill.pdf', PDF, pages(2, 15)),
      await server.add('bill.pdf', PDF, text('Total: 12')),
    ])

    const line = `Attached in this conversation (${PDF}, 8 bytes); read it with read_file.`
    expect(users(server.asked[0])).toEqual([
      {
        role: 'user',
        content: `What is the total?\n\n${FILES_NOTICE}\n\n[file: bill.pdf]\n${line}\n\n[file: bill (2).pdf]\n${line}`,
      },
    ])
    expect(server.asked.map(toolNames)).toEqual([['read_file'], ['read_file'], ['read_file']])
    expect(results(events)).toEqual([
      `${FILES_NOTICE}\n[file: bill.pdf]\n[page 2 of 2, characters 0 to 15 of 15]\n[page 2]\nThis is page 2.`,
      `${FILES_NOTICE}\n[file: bill (2).pdf]\n[characters 0 to 9 of 9]\nTotal: 12`,
      'It is 12.',
    ])
    expect(server.reads).toEqual(['bill.pdf', 'bill (2).pdf'])
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test('reads what was attached to an earlier message', async () => {
    const server = openWithClerk([readFile({ file: 'bill.pdf' }), done])
    const { accepted } = await server.say('Keep it.', [await server.add('bill.pdf', PDF, text('Total: 12'))])
    const { events } = await server.say('And now?', [], accepted)

    expect(results(events)[0]).toMatch(/\nTotal: 12$/)
    await server.close()
  })

  test('is told about no files if there are none', async () => {
    const server = openWithClerk([done])
    await server.say('Go.')

    expect(users(server.asked[0])).toEqual([{ role: 'user', content: 'What is the total?' }])
    expect(server.asked.map(toolNames)).toEqual([[]])
    await server.close()
  })

  test('is told the names of the newest twenty', async () => {
    const server = openWithClerk([done])
    let known: Awaited<ReturnType<typeof server.say>> | null = null
    for (const from of [0, 10, 20]) {
      const names = Array.from({ length: from === 20 ? 2 : 10 }, (_, at) => `${from + at}.txt`)
      const files = await Promise.all(names.map((name) => server.add(name, 'text/plain', text(name))))
      known = await server.say('These.', files, known?.accepted ?? null)
    }

    const [question] = users(server.asked.at(-1))
    const names = question?.content.match(/^\[file: .*\]$/gm) ?? []
    expect(names).toEqual(Array.from({ length: 20 }, (_, at) => `[file: ${at + 2}.txt]`))
    expect(question?.content.endsWith('\n\n[2 older files are not listed here]')).toBe(true)
    await server.close()
  })

  test('still reads files after it has waited for a person', async () => {
    const operator: Caller = { user: 'ada', role: 'operator' }
    const rules: CallRules = {
      judge: async (call) =>
        call.tool.risk === 'low'
          ? { verdict: 'run', grant: null }
          : { verdict: 'ask', ...(await rules.question(call)) },
      question: async ({ tool, now }) => ({
        policyVersion: 'v1',
        risk: tool.risk,
        answerableBy: 'operator',
        expiresAt: now + 60_000,
        title: 'Call send',
        description: '',
        action: null,
      }),
      preview: async () => null,
    }
    const send = testTool({ name: 'send', risk: 'high', call: async () => ({ content: 'Sent.', isError: false }) })
    const sendAndRead = {
      parts: [
        { tool_call: { name: 'send', arguments: {} } },
        { tool_call: { name: 'read_file', arguments: { file: 'bill.pdf' } } },
      ],
    }
    const server = openWithClerk([sendAndRead, readFile({ file: 'BILL.pdf' }), done], { tools: [send], rules })
    const { accepted } = await server.say('Go.', [await server.add('bill.pdf', PDF, text('Total: 12'))])
    const [approval] = await server.approvals.list({ by: operator, status: 'pending', limit: 10 })
    const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    const events = await server.events({ ...accepted, run })

    expect(results(events).filter((content) => content.endsWith('\nTotal: 12')).length).toBeGreaterThan(0)
    expect(results(events).filter((content) => /no tool/i.test(content))).toEqual([])
    expect(users(server.asked.at(-1))[0]?.content).toContain('[file: bill.pdf]')
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })
})

describe('an agent that a conversation is handed to', () => {
  test('sees its files as the agent before did, and can read on in them', async () => {
    const server = openWithClerk([done, readFile({ file: 'old.txt' }), done], { handoff: true })
    const { accepted } = await server.say('One.', [await server.add('old.txt', 'text/plain', text('Alpha.'))])
    const { events } = await server.say('Two.', [await server.add('new.txt', 'text/plain', text('Beta.'))], accepted)

    expect(server.asked.map((request) => users(request).map(({ content }) => content)).at(-1)).toEqual([
      `One.\n\n${FILES_NOTICE}\n\n[file: old.txt]\nAlpha.`,
      `Two.\n\n${FILES_NOTICE}\n\n[file: new.txt]\nBeta.`,
    ])
    expect(server.asked.map(toolNames)).toEqual([['hand_back'], ['hand_back', 'read_file'], ['hand_back', 'read_file']])
    expect(results(events)).toEqual([`${FILES_NOTICE}\n[file: old.txt]\n[characters 0 to 6 of 6]\nAlpha.`])
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })
})
