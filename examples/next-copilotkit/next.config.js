export default {
  // Not bundled: it has its own workers and files, which a bundle would leave behind.
  serverExternalPackages: ['quarterdeck'],
}
