// The `agent` kind: another agent, called like a tool or handed the conversation. The engine runs it.

import { ServerError } from '../domain/errors.ts'
import type { AgentToolSettings, JsonSchema } from '../domain/tool-settings.ts'
import type { AgentTool } from './tool.ts'
import { toolBinding } from './tool-binding.ts'
import { toolDescription } from './tool-description.ts'

const question: JsonSchema = {
  type: 'object',
  properties: {
    message: {
      type: 'string',
      minLength: 1,
      description: 'What the agent is asked, with all that it needs to know: it does not see this conversation.',
    },
  },
  required: ['message'],
  additionalProperties: false,
}

const handover: JsonSchema = {
  type: 'object',
  properties: { reason: { type: 'string', description: 'Why the other agent goes on from here.' } },
  additionalProperties: false,
}

/**
 * `ownDescription`: what the agent says of itself; null where there is no such agent. Throws `config_invalid` then. `makeup` is
 * what it is made of.
 */
export function createAgentTool(
  settings: AgentToolSettings,
  ownDescription: string | null,
  makeup: unknown,
): AgentTool {
  const { name, agent, handoff } = settings
  if (ownDescription === null) {
    throw new ServerError('config_invalid', `Tool ${name}: there is no agent ${agent}. Load its file beside this one.`)
  }
  const said = settings.description ?? ownDescription
  const does = handoff ? `Hands the conversation to the agent ${agent}.` : `Asks the agent ${agent}.`
  return {
    location: 'agent',
    ...toolDescription({
      ...settings,
      description: said.trim() === '' ? does : settings.description === null ? `${does} ${said}` : said,
      parameters: handoff ? handover : question,
      returns: null,
    }),
    binding: toolBinding('agent', { handoff, agent: makeup }),
    agent,
    handoff,
  }
}
