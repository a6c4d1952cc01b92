// Builds the console and the page for users into `dist/console` of the project, from where the program serves them. `npm run dev -w console` serves it with hot
// reload and passes every other path on to a running server (http://localhost:8000, or QUARTERDECK_URL).

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const root = import.meta.dirname
const server = process.env.QUARTERDECK_URL ?? 'http://localhost:8000'

/** The console draws Markdown by itself and uses only the lexer of marked. Its renderer would be 4 kB more in every chat. */
const lexerOnly: Plugin = {
  name: 'lexer-only',
  enforce: 'pre',
  transform(code, id) {
    if (!id.includes('/marked/lib/marked.esm.js')) return null
    const begin = code.search(/var \w+=new \w+;function \w+\(l,e\)/)
    const lexer = /\bexport\{.*?(\w+) as Lexer\b/s.exec(code)?.[1]
    if (begin < 0 || lexer === undefined) throw new Error('marked looks different: see lexerOnly in vite.config.ts')
    return `${code.slice(0, begin)}export{${lexer} as Lexer};`
  },
}

/** The drawings of icons without what lucide can do with them, and without the random keys of their lines, which do not compress. */
const plainIcons: Plugin = {
  name: 'plain-icons',
  enforce: 'pre',
  resolveId: (source) => (source === '../createLucideIcon.mjs' ? join(root, 'src/parts/make-icon.tsx') : null),
  transform: (code, id) => (/lucide-react\/.*\/icons\//.test(id) ? code.replaceAll(/,\s*key: "\w+"/g, '') : null),
}

/** Everything that the console puts on the page goes through it. */
const SHOWN = join(root, 'src/parts/shown-jsx.ts')
const shownText: Plugin = {
  name: 'shown-text',
  enforce: 'pre',
  resolveId: (source, importer = '') =>
    source === 'react/jsx-runtime' && importer.startsWith(join(root, 'src')) && importer !== SHOWN ? SHOWN : null,
}

/** The server sends them as they are. Small files fit into one packet anyway. */
const brotli = promisify(brotliCompress)
/** Nearly as small as at the best one, which takes a build ten seconds. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
const compressed: Plugin = {
  name: 'compressed',
  async writeBundle({ dir = '' }, bundle) {
    const texts = Object.keys(bundle).filter((name) => /^assets\/.*\.(?:js|css)$/.test(name))
    await Promise.all(
      texts.map(async (name) => {
        const content = await readFile(join(dir, name))
        if (content.length < 1_400) return
        await writeFile(join(dir, `${name}.br`), await brotli(content, QUALITY))
      }),
    )
  },
}

/** What the console and the page for users load first. */
const inFirst = new RegExp(
  [
    'node_modules/(?:react|react-dom|scheduler|wouter|regexparam|mitt)/',
    // Without what only some pages use.
    'node_modules/@tanstack/(?:react-query|query-core)/(?!.*(?:mutationObserver|useMutation|[iI]nfiniteQuery))',
    'parts/make-icon|src/client/|preload-helper',
    'console/src/(?:base|browser-storage|error-text|kept-files|observed|tabs)\\.ts',
    'console/src/styles/',
    'console/src/pages/chat/ChatAction\\.',
    'console/src/app/(?:Connection|Keys|PageBoundary|theme)\\.',
    'console/src/data/(?:live|live-types|new-id|place|queries|requests|server|stream-loop|use-live|waiting|watched-fetch)\\.',
    'console/src/parts/(?:Announcer|Button|hidden-marks|lazy-part|shown-jsx|States|use-now)\\.',
    'console/src/sign-in/(?:code-in-address|database|device-name|device-token|leave-nothing)\\.',
    'icons/(?:activity|bot|calendar-clock|chart-column|ellipsis|inbox|list|message-square|panel-left|rotate-ccw|scroll-text|search|settings)\\.',
  ].join('|'),
)

/** Small things that most pages use. One file more that a browser asks for costs it and the server more than these bytes. */
const inParts = new RegExp(
  [
    'node_modules/(?:lucide-react|@tanstack/(?:react-query|query-core))/',
    'console/src/(?:words|money|given)\\.ts',
    'console/src/app/title\\.',
    'console/src/pages/(?:chat/ChatEntry|session/actions/use-export-entries)\\.',
    'console/src/data/(?:agents|chat-data|me|session-id)\\.',
    'console/src/parts/(?:Badge|bytes|CopyButton|CutText|Dialog|Field|Menu|Page|ProseText|save-file|Tabs|Time|markdown/languages|transcript/(?:conversation|open-rows|Fold)|VisibleText)\\.',
  ].join('|'),
)

export default defineConfig(({ command }) => ({
  root,
  // The server may stand behind a base path, so the built pages name nothing absolutely.
  base: command === 'serve' ? '/console/' : './',
  plugins: [react(), shownText, lexerOnly, ...(command === 'serve' ? [] : [plainIcons, compressed])],
  resolve: {
    alias: {
      'quarterdeck/client': join(root, '../src/client/client.ts'),
      // For versions of React that lack it. Ours has it.
      'use-sync-external-store/shim/index.js': 'react',
    },
  },
  build: {
    outDir: join(root, '../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // An inlined asset would be a data: URL, which the policy of the pages allows for pictures only.
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // Of later pages only styles are loaded ahead. A list of the scripts of all pages would be a kilobyte of the first load.
      resolveDependencies: (_file, dependencies, { hostType }) =>
        hostType === 'html' ? dependencies : dependencies.filter((name) => name.endsWith('.css')),
    },
    rolldownOptions: {
      input: { console: join(root, 'index.html'), talk: join(root, 'talk/index.html') },
      output: {
        // What every page of both entries needs, as one file: it compresses better than many small ones.
        codeSplitting: {
          groups: [
            { name: 'first', test: inFirst },
            { name: 'parts', test: inParts },
          ],
        },
      },
    },
    manifest: true,
    // The page "About" leads there.
    license: { fileName: 'licences.txt' },
    reportCompressedSize: false,
  },
  server: {
    port: 5173,
    proxy: { '^/(?!console(/|$))': { target: server, changeOrigin: true } },
  },
}))
