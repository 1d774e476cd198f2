package main

import (
	"fmt"
	"syscall"
)

// fault makes operations fail as those of a broken disk do, until it is lifted.
type fault struct {
	errno syscall.Errno
	reads bool // also operations that change nothing
	after int  // operations of these kinds that still succeed
}

var faults = map[string]syscall.Errno{
	"EDQUOT": syscall.EDQUOT,
	"EIO":    syscall.EIO,
	"ENOSPC": syscall.ENOSPC,
	"EROFS":  syscall.EROFS,
}

// fail begins a fault by the name of its error, or lifts it: "".
func (d *disk) fail(name string, reads bool, after int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name == "" {
		d.fault = nil
		return nil
	}
	errno, known := faults[name]
	if !known {
		return fmt.Errorf("%q is no fault", name)
	}
	d.fault = &fault{errno, reads, after}
	return nil
}

// meets is the error with which an operation fails now, or 0. The caller holds the lock.
func (d *disk) meets(changes bool) syscall.Errno {
	if d.fault == nil || (!changes && !d.fault.reads) {
		return 0
	}
	if d.fault.after > 0 {
		d.fault.after--
		return 0
	}
	return d.fault.errno
}
