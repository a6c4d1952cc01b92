// Builds the console into `dist/console` of the project, from where the program serves it. `npm run dev -w console` serves it with hot
// reload and passes every other path on to a running server (http://localhost:8000, or QUARTERDECK_URL).

import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const root = import.meta.dirname
const server = process.env.QUARTERDECK_URL ?? 'http://localhost:8000'

export default defineConfig(({ command }) => ({
  root,
  // The server may stand behind a base path, so the built pages name nothing absolutely.
  base: command === 'serve' ? '/console/' : './',
  plugins: [react()],
  resolve: { alias: { 'quarterdeck/client': join(root, '../src/client/client.ts') } },
  build: {
    outDir: join(root, '../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // An inlined asset would be a data: URL, which the policy of the pages allows for pictures only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
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
