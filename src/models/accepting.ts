import type { ModelInput } from '../domain/agent.ts'
import type { Model, ModelAttachment, ModelMessage } from './model.ts'

/**
 * The model, asked only for what it takes: in place of another attachment it reads that there was one. Requests are made for the
 * first model of an agent; its fallback may take less.
 */
export function createAcceptingModel(model: Model, input: readonly ModelInput[]): Model {
  const takes = ({ type }: ModelAttachment): boolean => input.includes(type === 'image' ? 'image' : 'pdf')

  function accepted(message: ModelMessage): ModelMessage {
    if (message.role !== 'user' || message.attachments === undefined || message.attachments.every(takes)) return message
    const { attachments, ...rest } = message
    const left = attachments.filter(takes)
    const lines = attachments
      .filter((one) => !takes(one))
      .map(({ type, name }) => `[${type}: ${name} is not shown: this model takes no such files.]`)
    const content = [rest.content, lines.join('\n')].filter((part) => part !== '').join('\n\n')
    return { ...rest, content, ...(left.length === 0 ? {} : { attachments: left }) }
  }

  return {
    ...model,
    stream: (request, signal) => model.stream({ ...request, messages: request.messages.map(accepted) }, signal),
  }
}
