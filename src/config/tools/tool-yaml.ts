// The schema of `tools` in agent.yaml: one shape per kind of tool.

import { z } from 'zod'
import { textOrFile } from '../source/load-context.ts'
import { key, refusing, reporter, text, twinsIn } from '../source/schema-key.ts'
import { httpTool } from './http-tool-yaml.ts'
import { knowledgeTool } from './knowledge-tool-yaml.ts'
import { mcpTool } from './mcp-tool-yaml.ts'
import {
  checkArguments,
  checkRetries,
  description,
  name,
  parametersKey,
  returnsKey,
  ruleKeys,
  toolType,
} from './tool-keys.ts'

const functionTool = z
  .strictObject({
    type: toolType('function'),
    name,
    description: key(
      description.optional(),
      'When and why to use the tool. The model reads this. Default: what the code says.',
      'Current weather for a city.',
    ),
    file: key(
      text().regex(/\.[cm]?[jt]s$/),
      'The module file, relative to this file.',
      'tools.ts',
      'a file that ends in .ts or .js',
    ),
    export: key(text().optional(), 'Name of the export in the module. Default: the tool’s name.', 'getWeather'),
    parameters: parametersKey,
    returns: returnsKey,
    ...ruleKeys,
  })
  .superRefine((tool, context) => {
    checkRetries(tool, 'once', reporter(context))
    checkArguments(tool, reporter(context))
  })

const { approval: _approval, retries: _retries, ...clientRules } = ruleKeys

const clientTool = refusing(
  z
    .strictObject({
      type: toolType('client'),
      name,
      description,
      parameters: parametersKey,
      returns: returnsKey,
      ...clientRules,
    })
    .superRefine((tool, context) =>
      checkArguments({ ...tool, parameters: tool.parameters ?? none }, reporter(context)),
    ),
  {
    approval: 'A client tool runs in the client, which can ask its own user. Remove this key.',
    retries: 'A client tool runs in the client, so the server cannot retry it. Remove this key.',
  },
)

const none = { properties: {} }

const { predict_state: _predictState, ...agentRules } = ruleKeys

const agentTool = refusing(
  z
    .strictObject({
      type: toolType('agent'),
      name,
      description: key(
        description.optional(),
        'When and why to call the agent. The model reads this. Default: that agent’s own description.',
        'Explains a topic step by step.',
      ),
      agent: key(text(), 'The other agent’s file, relative to this file.', 'tutor.yaml', 'the path of an agent file'),
      handoff: key(
        z.boolean().default(false),
        'true = the other agent answers from then on; false = its answer is the result of the call.',
        true,
      ),
      ...agentRules,
    })
    .superRefine((tool, context) => {
      const report = reporter(context)
      checkRetries(tool, 'once', report)
      if (!tool.handoff) return
      for (const one of ['timeout', 'retries'] as const) {
        if (tool[one] === undefined) continue
        report(one, `a handoff has no ${one}, because the other agent has its own limits. Remove this key.`)
      }
    }),
  {
    parameters:
      'An agent takes a message, not parameters. Remove this key, and say in the description what the message should contain.',
    returns:
      'An agent answers with text. Remove this key; to shape the answer, set response_format in that agent’s file.',
    predict_state: 'An agent takes a message, not arguments that could become state. Remove this key.',
  },
)

const promptTool = z
  .strictObject({
    type: toolType('prompt'),
    name,
    description,
    template: key(
      textOrFile('template', 'template', 'Summarise in three sentences: {text}'),
      'The prompt, with `{parameter}` in place of an argument.',
      'Summarise in three sentences: {text}',
      'text, or one of the keys inline and file',
    ),
    parameters: parametersKey,
    returns: returnsKey,
    ...ruleKeys,
  })
  .superRefine((tool, context) => {
    checkRetries(tool, 'read', reporter(context))
    checkArguments({ ...tool, parameters: tool.parameters ?? none }, reporter(context))
  })

const tool = z
  .discriminatedUnion('type', [functionTool, mcpTool, clientTool, httpTool, agentTool, promptTool, knowledgeTool])
  .meta({ expected: 'keys with values', example: { type: 'client', name: 'show_map', description: 'Shows a map.' } })

export const tools = z.array(tool).superRefine((list, context) => {
  for (const { index, first } of twinsIn(list, ({ name }) => name)) {
    const message = `tools[${first}] already has the name ${list[index]?.name}. Give each tool its own name.`
    reporter(context)([index, 'name'], message)
  }
})

export type ToolYaml = z.infer<typeof tool>
