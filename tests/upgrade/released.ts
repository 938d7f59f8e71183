/** The commit from which `scripts/test --platform upgrade` upgrades: the last release. */
export const released = '9807f4076a4fbb10ed569f72a472ece6fea50ae5'
