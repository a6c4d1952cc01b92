// A page with a chat of the examples, built and served on a port of its own: another origin than the server's.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { build, type Plugin } from 'vite'

const pages = {
  'assistant-ui': join(import.meta.dirname, '../../examples/clients/assistant-ui'),
  copilotkit: join(import.meta.dirname, 'copilotkit-page'),
  'use-chat': join(import.meta.dirname, 'use-chat-page'),
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
}

export interface BuiltExample {
  readonly url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** The chat of the other folder gets its packages from this one, in which they are installed. */
function packagesOf(folder: string): Plugin {
  return {
    name: 'packages-of-the-page',
    enforce: 'pre',
    resolveId(source, importer) {
      const isElsewhere = importer?.includes('/examples/next-copilotkit/') === true
      return isElsewhere && /^[@\w]/.test(source) ? this.resolve(source, join(folder, 'main.jsx')) : null
    },
  }
}

export async function buildExample(name: keyof typeof pages): Promise<BuiltExample> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-example-'))
  await build({
    root: pages[name],
    plugins: [packagesOf(pages[name])],
    configFile: false,
    logLevel: 'error',
    // What the example's own package.json asks for. In this checkout the name without a number is the client of 1.0.
    resolve: { alias: name === 'assistant-ui' ? { '@ag-ui/client': '@ag-ui/client-0' } : {} },
    build: {
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 100_000,
    },
  })
  const server = createServer(async (request, reply) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const path = pathname === '/' ? '/index.html' : normalize(pathname)
    const content = await readFile(join(folder, path)).catch(() => null)
    if (content === null) return void reply.writeHead(404).end()
    reply.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true })
    },
  }
}
