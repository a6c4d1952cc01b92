import { Argument, Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Io, Settle } from '../terminal/io.ts'

export function createSchemaCommand(io: Io, settle: Settle): Command {
  return new Command('schema')
    .summary('print the JSON Schema of agent.yaml or quarterdeck.yaml')
    .description('Prints a JSON Schema. Editors use it to complete and check the file.')
    .addArgument(
      new Argument('[which]', 'agent (agent.yaml) or server (quarterdeck.yaml)')
        .choices(['agent', 'server'])
        .default('agent'),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck schema > agent.schema.json
  $ quarterdeck schema server > quarterdeck.schema.json

Then name it in the first line of the file:
  # yaml-language-server: $schema=agent.schema.json`,
    )
    .action(async (which: 'agent' | 'server') => settle(await schema(which, io)))
}

export async function schema(which: 'agent' | 'server', io: Io): Promise<number> {
  const { agentJsonSchema, settingsJsonSchema } = await import('../../config/source/json-schema.ts')
  const made = which === 'agent' ? agentJsonSchema() : settingsJsonSchema()
  io.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
  return exitCodes.ok.code
}
