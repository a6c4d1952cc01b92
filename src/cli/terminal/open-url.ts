import { spawn } from 'node:child_process'

/** The program that opens a page. Never a shell: a URL must not become a command. */
export function openerFor(url: string, platform: NodeJS.Platform): { program: string; args: string[] } | null {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    return null
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return null
  switch (platform) {
    case 'darwin':
      return { program: 'open', args: [parsed.href] }
    case 'win32':
      return { program: 'rundll32', args: ['url.dll,FileProtocolHandler', parsed.href] }
    default:
      return { program: 'xdg-open', args: [parsed.href] }
  }
}

/** False for a URL that is not for a browser. If the program is missing, nothing happens: the URL is on the screen anyway. */
export function openUrl(url: string, platform: NodeJS.Platform): boolean {
  const opener = openerFor(url, platform)
  if (opener === null) return false
  const child = spawn(opener.program, opener.args, { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
  return true
}
