// The `prompt` kind: a template that becomes one call to the agent's model.

import type { PromptToolSettings } from '../domain/agent/tool-settings.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import { argumentsIn, parseTemplate, textOf } from './http/template/template.ts'
import type { ServerTool } from './tool.ts'
import { boundTool } from './tool-binding.ts'

/** Asks a model one question, without tools and without history. */
export type Complete = (
  prompt: string,
  signal: AbortSignal,
  log: Logger,
) => Promise<{ text: string; usage: TokenUsage[] }>

/**
 * Fills in `{argument}` and turns `{{argument}}` into a plain `{argument}`. Throws `config_invalid` when the template uses an
 * argument that `parameters` does not have.
 */
export function createPromptTool(settings: PromptToolSettings, complete: Complete): ServerTool {
  const template = parseTemplate(settings.template)
  const declared = Object.keys(Object(settings.parameters.properties))
  const unknown = argumentsIn(template).find((name) => !declared.includes(name))
  if (unknown !== undefined) {
    throw new ServerError(
      'config_invalid',
      `Tool ${settings.name}: the template uses {${unknown}}, but parameters has no ${unknown}. Add it there, or write {{${unknown}}} if the braces are meant as text.`,
    )
  }
  return {
    location: 'server',
    ...boundTool('prompt', settings, { template: settings.template }),
    action: () => `asks the model with the prompt ${settings.name}`,
    async call({ arguments: args, voice }, signal) {
      const prompt = template.map((part) => (typeof part === 'string' ? part : valueText(args, part.argument))).join('')
      const { text, usage } = await complete(prompt, signal, voice.log)
      if (text.trim() === '') return { content: 'The model answered with nothing.', isError: true, usage }
      return { content: text, isError: false, usage }
    },
  }
}

/** Empty for an argument that the model left out. */
const valueText = (args: Record<string, unknown>, name: string): string =>
  Object.hasOwn(args, name) && args[name] !== undefined ? textOf(args[name]) : ''
