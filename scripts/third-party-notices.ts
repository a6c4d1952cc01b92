// The licences of all packages that the published package contains. `npm run notices` writes THIRD-PARTY-NOTICES.md, and a test
// checks that it is up to date.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLED, carriedPackages, consolePackages, type ShippedPackage, shippedPackages } from './shipped-packages.ts'

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

/** The text is the same on every machine: for packages that npm installs only on some systems, it names the licence but does not quote it. */
export function thirdPartyNotices(root: string): string {
  const packages = shippedPackages(root)
  const quoted = packages.filter(({ isForSomeSystems }) => !isForSomeSystems)
  return `${introduction(root)}
${packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`).join('\n')}

${LIBVIPS}

${chaptersOf(quoted.flatMap((one) => textsOf(root, one).map((text) => ({ of: `${one.name} ${one.version}`, text })))).join('\n\n')}
`
}

/** Each text once, with all packages that have exactly this text. */
function chaptersOf(texts: readonly { of: string; text: string }[]): string[] {
  const packagesOf = Map.groupBy(texts, ({ text }) => text)
  return [...packagesOf].map(([text, same]) => {
    const [first = '', ...others] = new Set(same.map(({ of }) => of))
    return [`## ${first}`, ...(others.length === 0 ? [] : [`Also of ${others.join(', ')}.`]), text].join('\n\n')
  })
}

const introduction = (root: string): string => `# Third-party notices

Quarterdeck has the MIT licence. It is published together with the packages below, each under its own licence. ${[...new Set([...BUNDLED, ...consolePackages(root)])].join(', ')},
and the packages they need, are part of its own files, completely or in part. npm installs the others beside it, unchanged. Of the packages for one
operating system, npm installs only those that fit.

| package | version | licence |
| --- | --- | --- |`

const LIBVIPS = `## libvips and what it is linked with

The packages @img/sharp-libvips-* contain libvips and the libraries that it uses, under the LGPL-3.0-or-later and other licences. The README.md of each package
lists them. They are shared libraries in their own packages, so you can replace them by another build. Source and build instructions:
https://github.com/lovell/sharp-libvips. Licence: https://www.gnu.org/licenses/lgpl-3.0.html.`

function textsOf(root: string, { name, license, folder }: ShippedPackage): string[] {
  const files = licenseFiles(join(root, folder), carriedPackages[name] ?? [])
  if (files.length === 0)
    return [[`${license}; the package does not contain its text.`, ...missingTexts(license)].join('\n\n')]
  return files.map((file) => fenced(readFileSync(join(root, folder, file), 'utf8')))
}

/** Texts that the licence requires and the package does not contain. */
function missingTexts(license: string): string[] {
  return [
    ...(license.includes('Apache-2.0') ? ['The text of the Apache License 2.0 is under detect-libc.'] : []),
    ...(license.includes('BSD-3-Clause') ? [fenced(PROTOBUF_BSD)] : []),
  ]
}

/** From the files of @bufbuild/protobuf that Google wrote. */
const PROTOBUF_BSD = `Copyright 2008 Google Inc.  All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following
conditions are met:

* Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.
* Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer
  in the documentation and/or other materials provided with the distribution.
* Neither the name of Google Inc. nor the names of its contributors may be used to endorse or promote products derived from this
  software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT
NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE
COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
(INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS
INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE
OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`

/** The licence files of the package, and of its parts that have their own licence. */
function licenseFiles(folder: string, carried: readonly string[]): string[] {
  if (!existsSync(folder)) throw new Error(`${folder} does not exist: run npm install first`)
  const parts = [
    '.',
    ...new Set(carried.flatMap((pattern) => /^(cmaps|standard_fonts|wasm)\//.exec(pattern)?.[1] ?? [])),
  ]
  return parts.flatMap((part) =>
    readdirSync(join(folder, part))
      .filter((file) => LICENSE_FILE.test(file) || /^LICENSE_/.test(file))
      .sort()
      .map((file) => join(part, file)),
  )
}

const fenced = (text: string): string => `\`\`\`\`text\n${text.replaceAll('\r\n', '\n').trim()}\n\`\`\`\``

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  writeFileSync(join(root, 'THIRD-PARTY-NOTICES.md'), thirdPartyNotices(root))
}
