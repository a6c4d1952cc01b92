import { ServerError } from '../domain/errors.ts'
import { type Launcher, mcpFile } from './host.ts'

const MCP_CONFIG = '{mcp_config}'
const PROMPT_FILE = '{prompt_file}'

/** A host that we do not know. The settings say where it reads the file with our server; without that it would never connect. */
export const custom: Launcher = {
  ownFolders: ['.cache'],
  launch(request) {
    const { prompt, extraArgs, file } = request
    if (!extraArgs.some((one) => one.includes(MCP_CONFIG))) {
      throw new ServerError(
        'config_invalid',
        `Quarterdeck does not know how host_cli reads the address of an MCP server. Add an argument with ${MCP_CONFIG} to host_cli_args, in the place of the path of a JSON file. If the host takes no such file, it cannot be started from here: start it by hand, with quarterdeck connect.`,
      )
    }
    const takesFile = extraArgs.some((one) => one.includes(PROMPT_FILE))
    const args = extraArgs.map((one) =>
      one.replaceAll(MCP_CONFIG, () => file('mcp.json')).replaceAll(PROMPT_FILE, () => file('prompt.txt')),
    )
    return {
      args,
      files: { 'mcp.json': mcpFile(request), ...(takesFile ? { 'prompt.txt': prompt } : {}) },
      stdin: takesFile ? '' : prompt,
    }
  },
}
