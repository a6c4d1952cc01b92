// Fixtures of the conformance suite in which the server asks the client for input and is called again with it.

import {
  acceptedContent,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })

function ask(message: string, field: string, type: 'string' | 'boolean' = 'string'): InputRequest {
  const property = type === 'string' ? { type } : { type }
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: property }, required: [field] },
  })
}

const sample = (text: string, maxTokens: number): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens })

const Name = z.object({ name: z.string() })

export function addInputRequiredFixtures(server: McpServer, states: RequestStateCodec<{ round: number }>): void {
  const add = server.registerTool.bind(server)
  const config = { description: 'Fixture: asks the client for input' }

  add('test_input_required_result_elicitation', config, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'user_name', Name)
    if (answer !== undefined) return said(`Hello, ${answer.name}!`)
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } })
  })
  add('test_input_required_result_sampling', config, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question')
    if (answer.kind === 'sampling') return said(`The answer: ${JSON.stringify(answer.result.content)}`)
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })
  })
  add('test_input_required_result_list_roots', config, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots')
    if (answer.kind === 'roots') return said(`The roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`)
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })
  add('test_input_required_result_request_state', config, async (context) => {
    const { mcpReq } = context
    if (mcpReq.requestState<{ round: number }>()?.round === 1) return said('state-ok')
    const inputRequests = { confirm: ask('Please confirm', 'ok', 'boolean') }
    return inputRequired({ inputRequests, requestState: await states.mint({ round: 1 }, context) })
  })
  add('test_input_required_result_tampered_state', config, async (context) => {
    if (context.mcpReq.requestState<{ round: number }>()?.round === 1) return said('state-ok')
    const inputRequests = { confirm: ask('Please confirm', 'ok', 'boolean') }
    return inputRequired({ inputRequests, requestState: await states.mint({ round: 1 }, context) })
  })
  add('test_input_required_result_multiple_inputs', config, async (context) => {
    const responses = context.mcpReq.inputResponses ?? {}
    if (['user_name', 'greeting', 'client_roots'].every((key) => key in responses)) return said('All inputs received')
    const inputRequests = {
      user_name: ask('What is your name?', 'name'),
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    }
    return inputRequired({ inputRequests, requestState: await states.mint({ round: 1 }, context) })
  })
  add('test_input_required_result_multi_round', config, async (context) => {
    const { mcpReq } = context
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0
    if (round === 2 && acceptedContent(mcpReq.inputResponses, 'step2') !== undefined) return said('All steps done')
    const next = round === 1 && acceptedContent(mcpReq.inputResponses, 'step1') !== undefined ? 2 : 1
    const inputRequests =
      next === 2
        ? { step2: ask('Step 2: What is your favorite color?', 'color') }
        : { step1: ask('Step 1: What is your name?', 'name') }
    return inputRequired({ inputRequests, requestState: await states.mint({ round: next }, context) })
  })
  add('test_input_required_result_capabilities', config, () => {
    const can = server.server.getClientCapabilities() ?? {}
    const inputRequests = {
      ...(can.elicitation === undefined ? {} : { user_name: ask('What is your name?', 'name') }),
      ...(can.sampling === undefined ? {} : { greeting: sample('Generate a greeting', 50) }),
    }
    return Object.keys(inputRequests).length === 0 ? said('Nothing can be asked') : inputRequired({ inputRequests })
  })
  add('test_missing_capability', config, ({ mcpReq }) => {
    if (inputResponse(mcpReq.inputResponses, 'sampled').kind === 'sampling') return said('Sampled')
    return inputRequired({ inputRequests: { sampled: sample('Hello', 10) } })
  })
  add('test_streaming_elicitation', config, ({ mcpReq }) => {
    if (acceptedContent(mcpReq.inputResponses, 'user_name') !== undefined) return said('Thank you')
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } })
  })
  server.registerPrompt('test_input_required_result_prompt', config, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }))
    if (answer === undefined) {
      const inputRequests = { user_context: ask('What context should the prompt use?', 'context') }
      return inputRequired({ inputRequests })
    }
    const text = `Use this context: ${answer.context}`
    return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] }
  })
}
