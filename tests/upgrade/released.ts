/** The commit that is 0.1.0, from which `scripts/test --platform upgrade` upgrades. */
export const released = '0bf61d8cf7666d0b29b1dfb0eb1e9608825d9054'
