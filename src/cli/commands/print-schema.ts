import { Argument, Command } from 'commander'
import type { CommandContext } from '../command.ts'
import type { Io } from '../terminal/io.ts'

export function createSchemaCommand({ io }: CommandContext): Command {
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
    .action(async (which: 'agent' | 'server') => schema(which, io))
}

export async function schema(which: 'agent' | 'server', io: Io): Promise<void> {
  const { agentJsonSchema, settingsJsonSchema } = await import('../../config/source/json-schema.ts')
  const made = which === 'agent' ? agentJsonSchema() : settingsJsonSchema()
  io.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
}
